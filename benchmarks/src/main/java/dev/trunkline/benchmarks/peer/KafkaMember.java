package dev.trunkline.benchmarks.peer;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** One producer for all threads, and a consumer for each group, which commits its offsets after what it has polled was handled. */
final class KafkaMember implements Member {

    private static final Duration POLL = Duration.ofMillis(100);

    private final String broker;
    private final String topic;
    private final KafkaProducer<String, byte[]> producer;
    private final Loops consumers = new Loops();

    KafkaMember(String broker, String topic) {
        this.broker = broker;
        this.topic = topic;
        producer = new KafkaProducer<>(
                Map.of(
                        CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG,
                        broker,
                        ProducerConfig.ACKS_CONFIG,
                        "all",
                        ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG,
                        true),
                new StringSerializer(),
                new ByteArraySerializer());
    }

    @Override
    public Sender sender() {
        return letters -> {
            List<Future<RecordMetadata>> sent = new ArrayList<>();
            for (Letter letter : letters) {
                sent.add(producer.send(new ProducerRecord<>(topic, letter.key(), letter.payload())));
            }
            for (Future<RecordMetadata> future : sent) {
                future.get();
            }
        };
    }

    @Override
    public void consume(int group, Handler handler) {
        Handler insistent = new Insistent(handler);
        KafkaConsumer<String, byte[]> consumer = consumer(group);
        consumer.subscribe(List.of(topic));
        consumers.start(consumer, () -> {
            ConsumerRecords<String, byte[]> records = consumer.poll(POLL);
            for (ConsumerRecord<String, byte[]> record : records) {
                insistent.handle(new Letter(record.key(), record.value()));
            }
            if (!records.isEmpty()) {
                consumer.commitSync();
            }
        });
    }

    private KafkaConsumer<String, byte[]> consumer(int group) {
        return new KafkaConsumer<>(
                Map.of(
                        CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG,
                        broker,
                        ConsumerConfig.GROUP_ID_CONFIG,
                        topic + "-group-" + group,
                        ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG,
                        false,
                        ConsumerConfig.AUTO_OFFSET_RESET_CONFIG,
                        "earliest"),
                new StringDeserializer(),
                new ByteArrayDeserializer());
    }

    @Override
    public void close() {
        try (producer) {
            consumers.close();
        }
    }
}
