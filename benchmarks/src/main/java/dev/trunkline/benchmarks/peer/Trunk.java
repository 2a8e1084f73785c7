package dev.trunkline.benchmarks.peer;

import dev.trunkline.ConsumerGroup;
import dev.trunkline.Message;
import dev.trunkline.Publisher;
import dev.trunkline.RetryPolicy;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.benchmarks.database.Address;
import dev.trunkline.benchmarks.database.Query;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Trunkline. */
final class Trunk implements Peer {

    private static final String SCHEMA = "trunkline_bench_peer";
    private static final String TOPIC = "bench";
    private static final Duration PAUSE = Duration.ofMillis(RETRY_MILLIS);

    private final Address address;
    private final int partitions;

    Trunk(Address address, int partitions) {
        this.address = address;
        this.partitions = partitions;
    }

    @Override
    public void clear(int groups) throws SQLException {
        Query.execute(address, "drop schema if exists " + SCHEMA + " cascade");
    }

    @Override
    public Member join() {
        return new Joined(
                Trunkline.builder()
                        .url(address.url(), address.user(), address.password())
                        .schema(SCHEMA)
                        .open(),
                partitions);
    }

    @Override
    public void close() {}

    private static final class Joined implements Member {
        private final Trunkline trunkline;
        private final List<ConsumerGroup<byte[]>> groups = new ArrayList<>();

        Joined(Trunkline trunkline, int partitions) {
            this.trunkline = trunkline;
            trunkline.topics().configure(TopicConfiguration.pubSub(TOPIC).withPartitions(partitions));
        }

        @Override
        public Sender sender() {
            Publisher publisher = trunkline.publisher();
            return letters -> {
                if (letters.size() == 1) {
                    publisher.publish(message(letters.getFirst()));
                } else {
                    publisher.publishAll(letters.stream().map(Joined::message).toList());
                }
            };
        }

        @Override
        public void send(Connection transaction, List<Letter> letters) throws SQLException {
            trunkline
                    .publisher()
                    .publishAll(
                            transaction, letters.stream().map(Joined::message).toList());
        }

        private static Message message(Letter letter) {
            return Message.of(TOPIC, letter.payload()).withKey(letter.key());
        }

        @Override
        public void consume(int group, Handler handler) {
            groups.add(trunkline
                    .createConsumerGroup("group-" + group, TOPIC, byte[].class)
                    .addConsumer(
                            "counted",
                            delivery ->
                                    handler.handle(new Letter(String.valueOf(delivery.key()), delivery.payload()))));
            groups.getLast().start(SubscriptionOptions.fromBeginning().withRetry(new RetryPolicy(TRIES, PAUSE, PAUSE)));
        }

        @Override
        public void close() {
            groups.forEach(ConsumerGroup::close);
            trunkline.close();
        }
    }
}
