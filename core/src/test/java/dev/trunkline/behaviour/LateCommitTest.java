package dev.trunkline.behaviour;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.Message;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.testing.Logs;
import dev.trunkline.testing.TestDatabase;
import java.sql.Connection;
import java.sql.Savepoint;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** P2 and P4: what commits is in the log once, however late; what does not commit never is; nobody waits for another. */
class LateCommitTest {

    private final TestDatabase database = TestDatabase.fresh();
    private Trunkline trunkline;

    @BeforeEach
    void open() {
        trunkline = database.open();
        trunkline.topics().create(TopicConfiguration.pubSub("t").withPartitions(4));
    }

    @AfterEach
    void close() {
        trunkline.close();
    }

    @Test
    void a_late_commit_is_appended_after_what_overtook_it() throws Exception {
        try (Connection slow = begin()) {
            publish(slow, "slow", "k");
            for (int i = 0; i < 5; i++) {
                try (Connection fast = begin()) {
                    publish(fast, "fast" + i, "k");
                    fast.commit();
                }
                assertThat(trunkline.relayNow()).isEqualTo(1);
            }
            // An id that was given early and becomes visible late: a reader of "id > last" has passed it by now.
            slow.commit();
        }
        assertThat(trunkline.relayNow()).isEqualTo(1);
        assertThat(Logs.texts(trunkline, "t")).containsExactly("fast0", "fast1", "fast2", "fast3", "fast4", "slow");
        Logs.assertDense(trunkline, "t");
    }

    @Test
    void a_naive_reader_of_ids_would_have_lost_the_late_commit() throws Exception {
        try (Connection slow = begin()) {
            long slowId = publish(slow, "slow", "k");
            long fastId;
            try (Connection fast = begin()) {
                fastId = publish(fast, "fast", "k");
                fast.commit();
            }
            List<String> seen = database.query("select id from trunkline.outbox where id > 0 order by id");
            slow.commit();
            seen.addAll(database.query("select id from trunkline.outbox where id > " + fastId + " order by id"));
            assertThat(slowId).isLessThan(fastId);
            assertThat(seen).containsExactly(Long.toString(fastId));
        }
        assertThat(trunkline.relayNow()).isEqualTo(2);
    }

    @Test
    void a_rolled_back_publish_is_never_seen_and_leaves_no_gap() throws Exception {
        try (Connection connection = begin()) {
            publish(connection, "gone", "k");
            connection.rollback();
            publish(connection, "kept", "k");
            Savepoint savepoint = connection.setSavepoint();
            publish(connection, "gone too", "k");
            connection.rollback(savepoint);
            publish(connection, "kept too", "k");
            connection.commit();
        }
        trunkline.relayNow();
        assertThat(Logs.texts(trunkline, "t")).containsExactly("kept", "kept too");
        Logs.assertDense(trunkline, "t");
    }

    @Test
    void business_row_and_message_are_one() throws Exception {
        database.execute("create table orders (id int primary key)");
        Random random = new Random(7);
        for (int i = 0; i < 200; i++) {
            try (Connection connection = begin()) {
                TestDatabase.query(connection, "insert into orders values (?)", i);
                publish(connection, Integer.toString(i), "k" + i % 10);
                if (random.nextInt(5) == 0) {
                    connection.rollback();
                } else {
                    connection.commit();
                }
            }
            if (random.nextInt(10) == 0) {
                trunkline.relayNow();
            }
        }
        trunkline.relayNow();
        assertThat(Logs.texts(trunkline, "t"))
                .containsExactlyInAnyOrderElementsOf(database.query("select id from orders"));
        Logs.assertDense(trunkline, "t");
    }

    @Test
    void transactions_that_commit_in_any_order_are_all_found() throws Exception {
        Random random = new Random(42);
        List<Connection> open = new ArrayList<>();
        List<String> committed = new ArrayList<>();
        List<List<String>> values = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            if (open.size() < 20 && random.nextBoolean()) {
                open.add(begin());
                values.add(new ArrayList<>());
            } else if (!open.isEmpty()) {
                int at = random.nextInt(open.size());
                if (random.nextInt(3) > 0) {
                    String value = "v" + i;
                    publish(open.get(at), value, "k" + random.nextInt(8));
                    values.get(at).add(value);
                } else {
                    Connection connection = open.remove(at);
                    List<String> published = values.remove(at);
                    if (random.nextInt(4) > 0) {
                        connection.commit();
                        committed.addAll(published);
                    }
                    connection.close();
                }
            }
            if (random.nextInt(4) == 0) {
                trunkline.relayNow();
            }
        }
        for (int i = 0; i < open.size(); i++) {
            open.get(i).commit();
            committed.addAll(values.get(i));
            open.get(i).close();
        }
        trunkline.relayNow();
        assertThat(Logs.texts(trunkline, "t")).containsExactlyInAnyOrderElementsOf(committed);
        Logs.assertDense(trunkline, "t");
    }

    @Test
    void the_messages_of_one_transaction_lie_together_and_end_with_a_mark() throws Exception {
        try (Connection a = begin();
                Connection b = begin()) {
            for (int i = 0; i < 3; i++) {
                publish(a, "a" + i, "k");
                publish(b, "b" + i, "k");
            }
            b.commit();
            a.commit();
        }
        trunkline.relayNow();
        var messages = Logs.all(trunkline, "t");
        assertThat(messages)
                .extracting(m -> m.text() + (m.unitEnd() ? "." : ""))
                .containsExactly("a0", "a1", "a2.", "b0", "b1", "b2.");
        assertThat(messages.subList(0, 3))
                .extracting(m -> m.unit())
                .containsOnly(messages.get(2).id());
    }

    @Test
    void a_prepared_transaction_is_found_when_it_is_committed() throws Exception {
        try (Connection connection = begin()) {
            publish(connection, "prepared", "k");
            TestDatabase.query(connection, "prepare transaction 'p1'");
        }
        trunkline.publisher().publish(Message.of("t", "before").withKey("k"));
        assertThat(trunkline.relayNow()).isZero();
        database.execute("commit prepared 'p1'");
        assertThat(trunkline.relayNow()).isEqualTo(1);
        assertThat(Logs.texts(trunkline, "t")).containsExactly("before", "prepared");
    }

    @Test
    void an_old_snapshot_elsewhere_delays_nothing() throws Exception {
        try (Connection held = begin()) {
            held.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            TestDatabase.query(held, "select pg_current_xact_id()");
            for (int i : IntStream.range(0, 20).toArray()) {
                try (Connection connection = begin()) {
                    publish(connection, "m" + i, "k");
                    connection.commit();
                }
                assertThat(trunkline.relayNow()).isEqualTo(1);
            }
        }
        assertThat(Logs.texts(trunkline, "t")).hasSize(20);
    }

    private Connection begin() throws Exception {
        Connection connection = database.connect();
        connection.setAutoCommit(false);
        return connection;
    }

    private long publish(Connection connection, String text, String key) throws Exception {
        return trunkline
                .publisher()
                .publish(connection, Message.of("t", text).withKey(key))
                .id();
    }
}
