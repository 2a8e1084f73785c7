package dev.trunkline.benchmarks.peer;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.TopicPartition;

/** Kafka with one broker. Each clearing is a topic of its own, so that nothing of an earlier one can get in. */
final class Kafka implements Peer {

    private static final int PARTITIONS = 16;

    private final Broker broker;
    private final Admin admin;
    private int clearings;

    /** With settings as {@code name=value} beside the broker's defaults. */
    Kafka(String... settings) throws IOException {
        broker = new Broker(KafkaMain.class, settings);
        admin = Admin.create(Map.of(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, broker.address()));
    }

    @Override
    public void clear(int groups) throws ExecutionException, InterruptedException {
        if (clearings > 0) {
            admin.deleteTopics(List.of(topic())).all().get();
        }
        clearings++;
        admin.createTopics(List.of(new NewTopic(topic(), Optional.of(PARTITIONS), Optional.empty())))
                .all()
                .get();
        awaitLeaders();
    }

    private String topic() {
        return "bench-" + clearings;
    }

    /**
     * A topic is created before the broker knows of it, and known before the broker leads its partitions. A producer that comes so early
     * may see its first batch of a partition refused and its second one taken, and from then on gets nothing more into that partition.
     * Offsets are told only of a partition that is led; until then the client asks again.
     */
    private void awaitLeaders() throws ExecutionException, InterruptedException {
        while (!admin.listTopics().names().get().contains(topic())) {
            Thread.onSpinWait();
        }
        admin.listOffsets(IntStream.range(0, PARTITIONS)
                        .mapToObj(partition -> new TopicPartition(topic(), partition))
                        .collect(Collectors.toMap(partition -> partition, partition -> OffsetSpec.latest())))
                .all()
                .get();
    }

    @Override
    public Optional<ProcessHandle> broker() {
        return Optional.of(broker.process());
    }

    @Override
    public Member join() {
        return new KafkaMember(broker.address(), topic());
    }

    @Override
    public void close() {
        admin.close();
        broker.close();
    }
}
