package dev.trunkline.behaviour;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.trunkline.Message;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.testing.Logs;
import dev.trunkline.testing.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The outbox is emptied slot by slot, and never of anything that is not in the log. */
class OutboxSlotsTest {

    private final TestDatabase database = TestDatabase.fresh();
    private Trunkline trunkline;

    @BeforeEach
    void open() {
        trunkline = database.open();
        trunkline.topics().create(TopicConfiguration.queue("t"));
    }

    @AfterEach
    void close() {
        trunkline.close();
    }

    @Test
    void a_slot_is_cleared_once_it_is_left_relayed_and_settled() throws Exception {
        publish("a");
        assertThat(clear(0, "0")).isEqualTo("current");
        assertThat(advance()).isEqualTo("1");
        assertThat(clear(0, "0")).isEqualTo("not settled");
        trunkline.relayNow();
        assertThat(clear(0, "10 minutes")).isEqualTo("not settled");
        assertThat(clear(0, "0")).isEqualTo("cleared");
        assertThat(clear(0, "0")).isEqualTo("empty");
        publish("b");
        trunkline.relayNow();
        assertThat(Logs.texts(trunkline, "t")).containsExactlyInAnyOrder("a", "b");
    }

    @Test
    void a_slot_with_a_writer_in_flight_is_not_touched() throws Exception {
        try (Connection writer = database.connect()) {
            writer.setAutoCommit(false);
            trunkline.publisher().publish(writer, Message.of("t", "late"));
            publish("a");
            trunkline.relayNow();
            advance();
            assertThat(clear(0, "0")).isEqualTo("in use");
            writer.commit();
        }
        assertThat(clear(0, "0")).isEqualTo("not settled");
        trunkline.relayNow();
        assertThat(clear(0, "0")).isEqualTo("cleared");
        assertThat(Logs.texts(trunkline, "t")).containsExactlyInAnyOrder("a", "late");
    }

    @Test
    void a_writer_with_a_stale_idea_of_the_current_slot_loses_nothing() throws Exception {
        try (Connection connection = database.connect()) {
            trunkline.publisher().publish(connection, Message.of("t", "a"));
            advance();
            // The library still writes to slot 0: nobody has told it.
            trunkline.publisher().publish(connection, Message.of("t", "b"));
            assertThat(database.number("select count(*) from trunkline.outbox_0"))
                    .isEqualTo(2);
            trunkline.relayNow();
            trunkline.publisher().publish(connection, Message.of("t", "c"));
            assertThat(database.number("select count(*) from trunkline.outbox_1"))
                    .isEqualTo(1);
        }
        trunkline.relayNow();
        assertThat(Logs.texts(trunkline, "t")).containsExactlyInAnyOrder("a", "b", "c");
    }

    @Test
    void only_an_empty_slot_is_entered() throws Exception {
        for (int slot = 1; slot <= 3; slot++) {
            publish("a");
            assertThat(advance()).isEqualTo(Integer.toString(slot));
            trunkline.relayNow();
        }
        publish("b");
        assertThat(advance()).isEqualTo("null");
        trunkline.relayNow();
        assertThat(clear(0, "0")).isEqualTo("cleared");
        assertThat(advance()).isEqualTo("0");
    }

    /** Marks of the cluster that the dump came from have transaction ids that lie in the future of this one. */
    @Test
    void marks_of_another_cluster_cover_nothing_that_is_published_here() throws Exception {
        database.execute(
                "update trunkline.mark set snapshot = '5000000:5000000:', marked_at = marked_at - interval '1 hour',"
                        + " due = '2020-01-01'");
        database.execute("update trunkline.installation set system_identifier = 1");
        assertThat(database.query("select trunkline.adopt()")).containsExactly("t");
        publish("a");
        advance();
        assertThat(clear(0, "10 minutes")).isEqualTo("not settled");
        assertThat(database.query("select distinct snapshot::text, due >= '2020-01-01' from trunkline.mark"))
                .containsExactly("1:1:|t");
        trunkline.relayNow();
        assertThat(Logs.texts(trunkline, "t")).containsExactly("a");
    }

    /** An old snapshot has an old idea of which slot is the current one, and of what was relayed. */
    @Test
    void upkeep_is_refused_in_a_snapshot_that_may_be_old() throws Exception {
        try (Connection connection = database.connect()) {
            connection.setAutoCommit(false);
            connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            assertThatThrownBy(() -> TestDatabase.query(connection, "select trunkline.upkeep('clear outbox')"))
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("TL007"));
        }
    }

    @Test
    void what_is_left_of_a_dropped_topic_holds_nothing_back() throws Exception {
        publish("a");
        trunkline.topics().drop("t");
        advance();
        assertThat(clear(0, "0")).isEqualTo("cleared");
        assertThat(trunkline.relayNow()).isZero();
    }

    @Test
    void statistics_of_a_tiny_slot_do_not_lead_the_relay_astray() throws Exception {
        try (Connection relay = database.connect()) {
            for (int round = 0; round < 8; round++) {
                publish("m" + round);
                database.execute("analyze");
                TestDatabase.query(relay, "select trunkline.pending()");
                relay.setAutoCommit(false);
                assertThat(TestDatabase.query(relay, "select trunkline.relay(1)"))
                        .containsExactly("1");
                assertThat(
                                TestDatabase.query(
                                        relay,
                                        "select sum(seq_scan), sum(idx_scan) > 0 from pg_stat_xact_user_tables where relname ~ '^outbox_[0-3]'"))
                        .containsExactly("0|t");
                relay.commit();
                relay.setAutoCommit(true);
            }
        }
        assertThat(Logs.texts(trunkline, "t")).hasSize(8);
    }

    @Test
    void a_row_that_nobody_could_have_published_does_not_stall_the_topic() throws Exception {
        publish("before");
        database.execute(
                "insert into trunkline.outbox_0 (topic, lane, partition, content_type, payload) values (1, 0, 99, 't', ''), (1, 0, 1, 't', ''), (1, 3, -1, 't', '')");
        publish("after");
        assertThat(trunkline.relayNow()).isEqualTo(2);
        assertThat(Logs.texts(trunkline, "t")).containsExactlyInAnyOrder("before", "after");
        assertThat(trunkline.relayNow()).isZero();
    }

    /** app may insert by itself. */
    @Test
    void what_would_stop_the_relay_is_left_out() throws Exception {
        String stuff = "(select string_agg(sha512(i::text::bytea)::text, '') from generate_series(1, 50) i)";
        publish("before");
        for (String bad : List.of(
                "due_at) select 'infinity'::timestamptz",
                "idempotency_key) select " + stuff,
                "idempotency_key, due_at) select " + stuff + ", now() + interval '1 hour'",
                "key) select " + stuff)) {
            database.execute("insert into trunkline.outbox_0 (topic, lane, partition, content_type, payload, "
                    + bad.replace("select '", "select 1, 0, 0, 't', '', '")
                            .replace("select (", "select 1, 0, 0, 't', '', ("));
        }
        publish("after");
        assertThat(trunkline.relayNow()).isEqualTo(2);
        assertThat(Logs.texts(trunkline, "t")).containsExactlyInAnyOrder("before", "after");
        assertThat(database.number("select count(*) from trunkline.delayed")).isZero();
        assertThat(trunkline.relayNow()).isZero();
    }

    @Test
    void nor_does_it_make_it_unknown_whether_a_message_was_published() {
        database.execute(
                "insert into trunkline.outbox_0 (topic, lane, partition, content_type, payload) select 1, l, 99, 't', '' from generate_series(0, 3) l");
        assertThat(trunkline.publisher().publish(Message.of("t", "a")).offset()).hasValue(0);
        assertThat(Logs.texts(trunkline, "t")).containsExactly("a");
    }

    @Test
    void marks_do_not_pile_up() throws Exception {
        for (int i = 0; i < 20; i++) {
            publish("m" + i);
            trunkline.relayNow();
        }
        assertThat(database.number("select count(*) from trunkline.mark")).isGreaterThan(40);
        database.query("select trunkline.prune_marks('0')");
        assertThat(database.number("select count(*) from trunkline.mark")).isEqualTo(4);
        publish("last");
        trunkline.relayNow();
        assertThat(Logs.texts(trunkline, "t")).hasSize(21);
    }

    private void publish(String text) throws Exception {
        try (Connection connection = database.connect()) {
            trunkline.publisher().publish(connection, Message.of("t", text));
        }
    }

    private String advance() {
        return database.query("select trunkline.advance_outbox('0')").getFirst();
    }

    private String clear(int slot, String settled) {
        return database.query("select trunkline.clear_outbox(?, ?::interval)", slot, settled)
                .getFirst();
    }
}
