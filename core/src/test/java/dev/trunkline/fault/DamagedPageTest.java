package dev.trunkline.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.trunkline.Message;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.embedded.EmbeddedPostgres;
import dev.trunkline.embedded.Shutdown;
import dev.trunkline.testing.TestDatabase;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** F31: what a group waits for is told, also while the page at its cursor can not be read. */
@Tag("fault")
@Timeout(120)
class DamagedPageTest {

    /** Some pages: the log ends in another one than it begins in. */
    private static final int MESSAGES = 100;

    private static final int PAGE = 8192;
    private static final int MIDDLE_OF_FIRST_PAGE = 4096;

    @Test
    void how_far_a_group_is_can_be_told_while_its_next_message_can_not_be_read() throws IOException {
        try (EmbeddedPostgres server = EmbeddedPostgres.temporary().start()) {
            TestDatabase database = TestDatabase.on(server);
            publish(database);
            String file = database.query("select pg_relation_filepath('trunkline.segment_1')")
                    .getFirst();
            server.stop(Shutdown.FAST);
            flip(server.dataDirectory().resolve("cluster").resolve(file), MIDDLE_OF_FIRST_PAGE);
            server.start();

            assertThatThrownBy(() -> database.query("select \"offset\" from trunkline.messages"))
                    .hasStackTraceContaining("invalid page");
            assertThat(database.query("select cursor, end_offset, lag, age > '0' from trunkline.lag('g', 't')"))
                    .containsExactly("0|" + MESSAGES + "|" + MESSAGES + "|t");
            assertThat(
                            database.query(
                                    "select value > 0 from trunkline.metrics() where name in ('group_lag_messages', 'group_lag_seconds')"))
                    .containsExactly("t", "t");
        }
    }

    /** The enemy: one page is damaged, and nobody can take any partition of its topic over. */
    @Test
    void a_partition_is_not_served_whose_end_can_not_be_read_and_the_others_are() throws IOException {
        try (EmbeddedPostgres server = EmbeddedPostgres.temporary().start()) {
            TestDatabase database = TestDatabase.on(server);
            try (Trunkline trunkline = database.open()) {
                trunkline.topics().create(TopicConfiguration.pubSub("t").withPartitions(2));
                publishTo(database, trunkline, 0, MESSAGES);
                publishTo(database, trunkline, 1, MESSAGES);
                Queue<String> seen = new ConcurrentLinkedQueue<>();
                consume(trunkline, seen);
                Awaitility.await().until(() -> seen.size() == 2 * MESSAGES);
            }
            String file = database.query("select pg_relation_filepath('trunkline.segment_1')")
                    .getFirst();
            long page = lastPage(database, 0);
            assertThat(lastPage(database, 1)).isGreaterThan(page);
            Path damaged = server.dataDirectory().resolve("cluster").resolve(file);
            server.stop(Shutdown.FAST);
            flip(damaged, page * PAGE + MIDDLE_OF_FIRST_PAGE);
            server.start();
            Queue<String> seen = new ConcurrentLinkedQueue<>();
            try (Trunkline trunkline = database.open()) {
                consume(trunkline, seen);
                publishTo(database, trunkline, 1, 1);
                Awaitility.await().until(() -> seen.contains("1"));
                server.stop(Shutdown.FAST);
                flip(damaged, page * PAGE + MIDDLE_OF_FIRST_PAGE);
                server.start();
                try (Trunkline publisher = database.open()) { // it has no connection of before
                    publishTo(database, publisher, 0, 1);
                }
                Awaitility.await().until(() -> seen.contains("0"));
            }
            assertThat(seen).hasSize(2);
        }
    }

    private static void publishTo(TestDatabase database, Trunkline trunkline, int partition, int count) {
        String key = database.query(
                        "select min(k::text) from generate_series(1, 100) k where trunkline.partition_of(k::text, 2) = ?",
                        partition)
                .getFirst();
        for (int i = 0; i < count; i++) {
            trunkline.publisher().publish(Message.of("t", new byte[500]).withKey(key));
        }
    }

    /** In which page the last frame of a partition is. */
    private static long lastPage(TestDatabase database, int partition) {
        return database.number(
                "select (ctid::text::point)[0]::bigint from trunkline.segment_1 where partition = ? order by last_offset desc limit 1",
                partition);
    }

    private static void consume(Trunkline trunkline, Queue<String> seen) {
        trunkline
                .createConsumerGroup("g", "t", byte[].class)
                .addConsumer(
                        "c",
                        delivery -> seen.add(Integer.toString(delivery.message().partition())))
                .start(SubscriptionOptions.fromBeginning());
    }

    private static void publish(TestDatabase database) {
        try (Trunkline trunkline = database.open()) {
            trunkline.topics().create(TopicConfiguration.pubSub("t").withPartitions(1));
            database.query("select subscription from trunkline.subscribe('g', 't', 'BEGINNING')");
            for (int i = 0; i < MESSAGES; i++) {
                trunkline.publisher().publish(Message.of("t", new byte[500]));
            }
            trunkline.relayNow();
        }
    }

    private static void flip(Path file, long position) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            ByteBuffer one = ByteBuffer.allocate(1);
            channel.read(one, position);
            one.put(0, (byte) ~one.get(0)).flip();
            channel.write(one, position);
        }
    }
}
