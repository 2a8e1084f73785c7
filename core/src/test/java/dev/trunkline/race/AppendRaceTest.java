package dev.trunkline.race;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.trunkline.DatabaseUnavailableException;
import dev.trunkline.LogMessage;
import dev.trunkline.Message;
import dev.trunkline.Receipt;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.testing.Logs;
import dev.trunkline.testing.TestDatabase;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two sessions, explicit steps: append, relay, roll-over and drop against each other. */
class AppendRaceTest {

    private final TestDatabase database = TestDatabase.fresh();
    private Trunkline trunkline;

    @BeforeEach
    void open() {
        trunkline = database.open();
        trunkline.topics().create(TopicConfiguration.queue("t").withPartitions(1));
    }

    @AfterEach
    void close() {
        trunkline.close();
    }

    @Test
    void what_a_transaction_publishes_after_it_relayed_is_not_lost() throws Exception {
        try (Connection connection = begin()) {
            publish(connection, "before");
            // Ends after the relaying transaction began: so its snapshot reaches beyond itself, and leaves itself out.
            try (Connection other = database.connect()) {
                publish(other, "other");
            }
            TestDatabase.query(connection, "select trunkline.relay(1)");
            publish(connection, "after");
            connection.commit();
        }
        trunkline.relayNow();
        assertThat(Logs.texts(trunkline, "t")).containsExactly("other", "before", "after");
    }

    @Test
    void a_topic_and_its_first_message_in_one_transaction() throws Exception {
        try (Connection connection = begin()) {
            TestDatabase.query(connection, "select trunkline.create_topic('new')");
            TestDatabase.query(connection, "select trunkline.publish('new', 'first')");
            assertThat(trunkline.relayNow()).isZero();
            connection.commit();
        }
        assertThat(trunkline.relayNow()).isEqualTo(1);
        assertThat(Logs.texts(trunkline, "new")).containsExactly("first");
    }

    @Test
    void a_relay_at_repeatable_read_is_refused() throws Exception {
        try (Connection connection = begin()) {
            connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            TestDatabase.query(connection, "select 1");
            database.query("select trunkline.roll_segment(1)");
            assertThatThrownBy(() -> TestDatabase.query(connection, "select trunkline.relay(1)"))
                    .hasMessageContaining("READ COMMITTED");
        }
    }

    @Test
    void a_relay_leaves_a_taken_lane_alone_and_a_small_batch_goes_around_it() throws Exception {
        try (Connection holder = begin()) {
            TestDatabase.query(holder, "select from trunkline.lane where topic = 1 for no key update");
            assertThat(trunkline.relayNow()).isZero();
            Receipt receipt = trunkline.publisher().publish(Message.of("t", "around"));
            assertThat(receipt.offset()).isEmpty();
            holder.rollback();
        }
        assertThat(trunkline.relayNow()).isEqualTo(1);
        assertThat(Logs.texts(trunkline, "t")).containsExactly("around");
    }

    @Test
    void a_large_batch_waits_for_the_lane_and_comes_after_what_was_committed_before_it_began() throws Exception {
        // It waits for a second only: where this thread was away for longer, the batch has gone around, and another one
        // is tried.
        long end = 0;
        boolean waited = appendsBehindTheLane();
        for (int i = 0; i < 20 && !waited; i++) {
            trunkline.relayNow();
            end = trunkline.log().end("t", 0);
            waited = appendsBehindTheLane();
        }
        assertThat(waited).isTrue();
        assertThat(Logs.texts(trunkline, "t").subList((int) end, (int) end + 2)).containsExactly("outbox", "b0");
    }

    /** Whether a batch waited for the lane that was taken when it came. */
    private boolean appendsBehindTheLane() throws Exception {
        try (var executor = Executors.newVirtualThreadPerTaskExecutor();
                Connection holder = begin()) {
            TestDatabase.query(holder, "select from trunkline.lane where topic = 1 for no key update");
            Future<List<Receipt>> batch = executor.submit(() -> trunkline
                    .publisher()
                    .publishAll(IntStream.range(0, 60)
                            .mapToObj(i -> Message.of("t", "b" + i))
                            .toList()));
            Awaitility.await().until(() -> database.number("select count(*) from pg_locks where not granted") > 0);
            try (Connection connection = database.connect()) {
                publish(connection, "outbox");
            }
            holder.rollback();
            return batch.get().getFirst().offset().isPresent();
        }
    }

    @Test
    void a_roll_over_waits_for_the_append_in_flight_and_takes_its_tail() throws Exception {
        trunkline.publisher().publish(Message.of("t", "m0"));
        try (var executor = Executors.newVirtualThreadPerTaskExecutor();
                Connection appender = begin()) {
            TestDatabase.query(appender, """
                    select trunkline.append('t', 1, 1, true, 2, null, array[-1], array[1], array[1], array[false], array['m1']::bytea[],
                        array[2], array[2], null, null, array['x'], null, null, null, null, null)""");
            Future<List<String>> roll =
                    executor.submit(() -> retryWhileLocked(() -> database.query("select trunkline.roll_segment(1)")));
            Awaitility.await().until(() -> database.number("select count(*) from pg_locks where not granted") > 0);
            appender.commit();
            assertThat(roll.get()).isNotEmpty();
        }
        assertThat(database.query("select bases from trunkline.segment order by id desc limit 1"))
                .containsExactly("{2}");
        trunkline.publisher().publish(Message.of("t", "m2"));
        assertThat(Logs.texts(trunkline, "t")).containsExactly("m0", "m1", "m2");
        Logs.assertDense(trunkline, "t");
    }

    @Test
    void a_hundred_thousand_messages_of_one_partition_are_relayed_in_pieces_with_appends_in_between() throws Exception {
        try (Connection connection = begin()) {
            TestDatabase.query(
                    connection,
                    "select trunkline.publish('t', 'm' || i, key => 'k') from generate_series(1, 100000) i");
            connection.commit();
        }
        int runs = 0;
        do {
            runs++;
            // Not straight into the log while an older difference is being relayed: this publish helps with a piece of
            // it.
            trunkline.publisher().publish(Message.of("t", "between " + runs).withKey("k"));
        } while (database.number("select trunkline.relay(1, 20000)") > 0);
        assertThat(runs).isGreaterThan(3);
        trunkline.relayNow();
        List<LogMessage> messages = Logs.all(trunkline, "t");
        assertThat(messages).hasSize(100_000 + runs);
        assertThat(messages.subList(0, 100_000))
                .extracting(LogMessage::text)
                .startsWith("m1", "m2")
                .endsWith("m100000");
        assertThat(messages.subList(0, 100_000))
                .filteredOn(LogMessage::unitEnd)
                .singleElement()
                .isEqualTo(messages.get(99_999));
        Logs.assertDense(trunkline, "t");
    }

    @Test
    void sixteen_direct_publishers_relays_roll_overs_and_drops_leave_the_log_dense() throws Exception {
        trunkline.topics().create(TopicConfiguration.queue("busy").withPartitions(8));
        AtomicBoolean done = new AtomicBoolean();
        AtomicInteger rolled = new AtomicInteger();
        try (var executor = Executors.newVirtualThreadPerTaskExecutor();
                Trunkline other =
                        database.options().backgroundWork(false).poolSize(20).open()) {
            List<Future<Integer>> publishers = new ArrayList<>();
            for (int p = 0; p < 16; p++) {
                int publisher = p;
                Trunkline mine = p % 2 == 0 ? trunkline : other;
                publishers.add(executor.submit(() -> {
                    int count = 0;
                    for (int i = 0; i < 40 || (i < 4_000 && rolled.get() < 2); i++) {
                        count += i % 4 == 0 ? 60 : 1;
                        String key = "k" + publisher;
                        int value = i;
                        if (i % 4 == 0) {
                            mine.publisher()
                                    .publishAll(IntStream.range(0, 60)
                                            .mapToObj(n -> Message.of("busy", key + " " + (value * 100 + n))
                                                    .withKey(key))
                                            .toList());
                        } else if (i % 4 == 1) {
                            try (Connection connection = begin()) {
                                mine.publisher()
                                        .publish(
                                                connection,
                                                Message.of("busy", key + " " + value * 100)
                                                        .withKey(key));
                                connection.commit();
                            }
                        } else {
                            mine.publisher()
                                    .publish(Message.of("busy", key + " " + value * 100)
                                            .withKey(key));
                        }
                    }
                    return count;
                }));
            }
            Future<?> relay = executor.submit(() -> {
                while (!done.get()) {
                    try {
                        trunkline.relayNow();
                    } catch (DatabaseUnavailableException e) {
                        // Somebody was stopped while he appended.
                    }
                }
            });
            Future<?> roller = executor.submit(() -> {
                while (!done.get()) {
                    retryWhileLocked(() -> database.query("select trunkline.roll_segment(2)"));
                    rolled.incrementAndGet();
                }
                return null;
            });
            int published = 0;
            for (Future<Integer> publisher : publishers) {
                published += publisher.get();
            }
            done.set(true);
            relay.get();
            roller.get();
            trunkline.relayNow();
            assertThat(database.number("select count(*) from trunkline.segment where topic = 2"))
                    .isGreaterThan(2);
            Logs.assertDense(trunkline, "busy");
            assertThat(Logs.all(trunkline, "busy")).hasSize(published);
            for (int p = 0; p < 16; p++) {
                String prefix = "k" + p + " ";
                assertThat(Logs.textsOf(trunkline, "busy", "k" + p).stream()
                                .map(text -> Integer.parseInt(text.substring(prefix.length())))
                                .toList())
                        .isSorted();
            }
        }
    }

    @Test
    void two_relays_at_once_move_each_message_once() throws Exception {
        for (int round = 0; round < 10; round++) {
            try (Connection connection = begin()) {
                TestDatabase.query(
                        connection, "select trunkline.publish('t', 'm' || i) from generate_series(1, 500) i");
                connection.commit();
            }
            try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
                List<Future<Long>> relays = IntStream.range(0, 4)
                        .mapToObj(i -> executor.submit(trunkline::relayNow))
                        .toList();
                long moved = 0;
                for (Future<Long> relay : relays) {
                    moved += relay.get();
                }
                assertThat(moved).isEqualTo(500);
            }
        }
        Logs.assertDense(trunkline, "t");
        assertThat(Logs.all(trunkline, "t")).hasSize(5_000);
    }

    @Test
    void a_transaction_with_an_old_transaction_id_is_found_though_many_marks_have_passed() throws Exception {
        try (Connection old = begin()) {
            TestDatabase.query(old, "select pg_current_xact_id()");
            for (int i = 0; i < 20; i++) {
                try (Connection connection = database.connect()) {
                    publish(connection, "m" + i);
                }
                trunkline.relayNow();
            }
            publish(old, "old");
            trunkline.relayNow();
            database.query("select trunkline.prune_marks('0')");
            old.commit();
        }
        assertThat(trunkline.relayNow()).isEqualTo(1);
        assertThat(Logs.texts(trunkline, "t")).hasSize(21).endsWith("old");
    }

    @Test
    void a_publisher_at_repeatable_read_is_found_like_any_other() throws Exception {
        try (Connection connection = begin()) {
            connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            TestDatabase.query(connection, "select 1");
            trunkline.publisher().publish(Message.of("t", "direct"));
            publish(connection, "repeatable");
            trunkline.relayNow();
            connection.commit();
        }
        trunkline.relayNow();
        assertThat(Logs.texts(trunkline, "t")).containsExactly("direct", "repeatable");
    }

    private static <T> T retryWhileLocked(Callable<T> call) throws Exception {
        while (true) {
            try {
                return call.call();
            } catch (IllegalStateException e) {
                if (!String.valueOf(e.getMessage()).contains("lock timeout")) {
                    throw e;
                }
            }
        }
    }

    private Connection begin() throws Exception {
        Connection connection = database.connect();
        connection.setAutoCommit(false);
        return connection;
    }

    private void publish(Connection connection, String text) throws Exception {
        trunkline.publisher().publish(connection, Message.of("t", text));
    }
}
