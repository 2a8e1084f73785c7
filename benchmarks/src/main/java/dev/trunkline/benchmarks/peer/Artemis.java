package dev.trunkline.benchmarks.peer;

import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.Session;
import java.io.IOException;
import java.util.Optional;
import org.apache.activemq.artemis.jms.client.ActiveMQConnectionFactory;

/** Artemis with one broker. Each clearing is a topic of its own with a subscription for each group, so that nothing of an earlier one can get in. */
final class Artemis implements Peer {

    private final Broker broker;
    private final ActiveMQConnectionFactory connections;
    private int clearings;
    private int subscriptions;

    Artemis() throws IOException {
        broker = new Broker(ArtemisMain.class);
        connections = new ActiveMQConnectionFactory("tcp://" + broker.address());
    }

    @Override
    public void clear(int groups) throws JMSException {
        try (Connection connection = connections.createConnection();
                Session session = connection.createSession()) {
            for (int group = 0; group < subscriptions; group++) {
                session.unsubscribe(subscription(topic(), group));
            }
            clearings++;
            subscriptions = groups;
            for (int group = 0; group < groups; group++) {
                session.createSharedDurableConsumer(session.createTopic(topic()), subscription(topic(), group))
                        .close();
            }
        }
    }

    private String topic() {
        return "bench-" + clearings;
    }

    static String subscription(String topic, int group) {
        return topic + "-group-" + group;
    }

    @Override
    public Optional<ProcessHandle> broker() {
        return Optional.of(broker.process());
    }

    @Override
    public Member join() throws JMSException {
        return new ArtemisMember(connections, topic());
    }

    @Override
    public void close() {
        connections.close();
        broker.close();
    }
}
