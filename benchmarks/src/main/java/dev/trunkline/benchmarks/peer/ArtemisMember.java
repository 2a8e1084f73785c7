package dev.trunkline.benchmarks.peer;

import jakarta.jms.BytesMessage;
import jakarta.jms.Connection;
import jakarta.jms.ConnectionFactory;
import jakarta.jms.JMSException;
import jakarta.jms.JMSRuntimeException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;

/** One connection, with sessions for each sender, and a session for each group, which commits after what it has received was handled. */
final class ArtemisMember implements Member {

    private static final int BATCH = 100;
    private static final int RECEIVE_MILLIS = 100;
    private static final String KEY = "JMSXGroupID";

    private final String topic;
    private final Connection connection;
    private final Loops consumers = new Loops();

    ArtemisMember(ConnectionFactory connections, String topic) throws JMSException {
        this.topic = topic;
        connection = connections.createConnection();
        connection.start();
    }

    /** One message is sent outside of a transaction, and acknowledged by the broker when it is in the journal; several are a transaction. */
    @Override
    public Sender sender() throws JMSException {
        Session plain = connection.createSession();
        Session transacted = connection.createSession(Session.SESSION_TRANSACTED);
        MessageProducer one = plain.createProducer(plain.createTopic(topic));
        MessageProducer several = transacted.createProducer(transacted.createTopic(topic));
        return letters -> {
            if (letters.size() == 1) {
                one.send(message(plain, letters.getFirst()));
                return;
            }
            for (Letter letter : letters) {
                several.send(message(transacted, letter));
            }
            transacted.commit();
        };
    }

    private static Message message(Session session, Letter letter) throws JMSException {
        BytesMessage message = session.createBytesMessage();
        message.setStringProperty(KEY, letter.key());
        message.writeBytes(letter.payload());
        return message;
    }

    @Override
    public void consume(int group, Handler handler) throws JMSException {
        Handler insistent = new Insistent(handler);
        Session session = connection.createSession(Session.SESSION_TRANSACTED);
        MessageConsumer consumer =
                session.createSharedDurableConsumer(session.createTopic(topic), Artemis.subscription(topic, group));
        consumers.start(session, () -> {
            Message message = consumer.receive(RECEIVE_MILLIS);
            int received = 0;
            while (message != null) {
                insistent.handle(letter(message));
                received++;
                message = received < BATCH ? consumer.receiveNoWait() : null;
            }
            if (received > 0) {
                session.commit();
            }
        });
    }

    private static Letter letter(Message message) throws JMSException {
        return new Letter(message.getStringProperty(KEY), message.getBody(byte[].class));
    }

    @Override
    public void close() {
        try (connection) {
            consumers.close();
        } catch (JMSException e) {
            throw new JMSRuntimeException("cannot close the connection", e.getErrorCode(), e);
        }
    }
}
