package dev.trunkline.behaviour;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.LogMessage;
import dev.trunkline.Message;
import dev.trunkline.Receipt;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.testing.TestDatabase;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** However much has gathered, a run of the relay takes so much of it that it comes to an end; and nobody can tell from the log. */
@Timeout(300)
class RelayBoundsTest {

    private static final int CHUNK = 70;

    private final TestDatabase database = TestDatabase.fresh();
    private Trunkline trunkline;

    @BeforeEach
    void open() {
        trunkline = database.open();
        trunkline
                .topics()
                .create(TopicConfiguration.queue("t").withPartitions(3).withLanes(2));
    }

    @AfterEach
    void close() {
        trunkline.close();
    }

    @Test
    void what_is_due_at_one_time_comes_in_portions_in_order_and_before_what_was_published_since() {
        for (int unit = 0; unit < 3; unit++) {
            database.query(
                    "select count(trunkline.publish('t', ? || ' ' || i, key => (i % 7)::text, deliver_at => now() + interval '1 hour'))"
                            + " from generate_series(1, 200) i",
                    Integer.toString(unit));
        }
        trunkline.relayNow();
        database.execute("update trunkline.delayed set due_at = now()");
        database.query(
                "select count(trunkline.publish('t', 'since ' || i, key => i::text)) from generate_series(1, 9) i");

        Receipt direct = null;
        List<Long> runs = new ArrayList<>();
        do {
            runs.add(database.number("select trunkline.relay(1, " + CHUNK + ")"));
            if (runs.size() == 3) {
                database.query("select trunkline.prune_marks('0')");
                assertThat(database.number("select count(*) from trunkline.delayed"))
                        .isEqualTo(600 - 3 * CHUNK);
                // Only a whole run of its own lets it go straight into the log.
                direct = trunkline.publisher().publish(Message.of("t", "direct").withKey("0"));
            }
        } while (runs.getLast() > 0);

        assertThat(runs).hasSizeGreaterThan(4).allMatch(moved -> moved <= 2 * CHUNK);
        assertThat(direct.id()).isPositive();
        List<String> all = new ArrayList<>();
        for (int partition = 0; partition < 3; partition++) {
            List<LogMessage> log = trunkline.log().read("t", partition, 0, 1000);
            log.forEach(message -> all.add(message.text()));
            assertThat(log.stream().map(LogMessage::text).filter(text -> text.matches("\\d.*")))
                    .isSortedAccordingTo((a, b) -> Long.compare(place(a), place(b)));
            assertThat(log.stream().dropWhile(message -> message.text().matches("\\d.*")))
                    .allMatch(message -> message.text().matches("since.*|direct"));
            for (int i = 0; i < log.size(); i++) {
                assertThat(log.get(i).unitEnd())
                        .as("%s", log.get(i))
                        .isEqualTo(i + 1 == log.size()
                                || log.get(i + 1).unit() != log.get(i).unit());
            }
        }
        assertThat(all).hasSize(610).doesNotHaveDuplicates();
        database.query("select trunkline.prune_marks('0')");
        assertThat(database.number("select count(*) from trunkline.delayed")).isZero();
        assertThat(trunkline.relayNow()).isZero();
    }

    private static long place(String text) {
        String[] parts = text.split(" ", -1);
        return Long.parseLong(parts[0]) * 1_000 + Long.parseLong(parts[1]);
    }

    @Test
    void what_is_due_is_found_by_index() throws Exception {
        database.query("select trunkline.publish('t', 'x'::text, deliver_at => now() + interval '1 hour')");
        trunkline.relayNow();
        database.execute("update trunkline.delayed set due_at = now()");
        database.execute("analyze");
        try (Connection relay = database.connect()) {
            relay.setAutoCommit(false);
            assertThat(TestDatabase.query(relay, "select trunkline.relay(1)")).containsExactly("1");
            assertThat(
                            TestDatabase.query(
                                    relay,
                                    "select sum(seq_scan), sum(idx_scan) > 0 from pg_stat_xact_user_tables where relname = 'delayed'"))
                    .containsExactly("0|t");
        }
    }

    @Test
    void large_messages_come_in_portions_too() {
        database.query(
                "select count(trunkline.publish('t', repeat(i::text, 1000000), key => 'one')) from generate_series(0, 9) i, generate_series(0, 9)");
        database.query("select trunkline.publish('t', 'last'::text, key => 'one')");
        List<Long> runs = new ArrayList<>();
        do {
            runs.add(database.number("select trunkline.relay(1)"));
        } while (runs.getLast() > 0);
        assertThat(runs).containsExactly(67L, 34L, 0L);
        int partition = (int) database.number("select trunkline.partition_of('one', 3)");
        assertThat(trunkline.log().end("t", partition)).isEqualTo(101);
        assertThat(trunkline.log().read("t", partition, 66, 2))
                .extracting(LogMessage::unitEnd)
                .containsExactly(false, false);
        assertThat(trunkline.log().read("t", partition, 98, 3))
                .extracting(LogMessage::unitEnd)
                .containsExactly(false, true, true);
    }

    @Test
    void a_message_that_is_larger_than_a_portion_is_one() {
        trunkline
                .topics()
                .create(TopicConfiguration.queue("large").withPartitions(1).withMaxPayloadBytes(100_000_000));
        database.query(
                "select trunkline.publish('large', repeat('x', 70000000)), trunkline.publish('large', 'y'::text)");
        assertThat(trunkline.relayNow()).isEqualTo(2);
        database.query(
                "select trunkline.publish('large', repeat('x', 70000000), deliver_at => now() + interval '1 hour')");
        trunkline.relayNow();
        database.execute("update trunkline.delayed set due_at = now()");
        assertThat(trunkline.relayNow()).isOne();
        assertThat(trunkline.log().end("large", 0)).isEqualTo(3);
    }
}
