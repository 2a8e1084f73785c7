package dev.trunkline.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.Message;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.testing.Logs;
import dev.trunkline.testing.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A process that does not relay follows the slots, too: one that all write to for ever is never emptied. */
class CurrentSlotTest {

    private final TestDatabase database = TestDatabase.fresh();
    private final AtomicLong clock = new AtomicLong();
    private final Outbox outbox = new Outbox("trunkline", clock::get);
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

    private void publish(Connection connection, String text) throws SQLException {
        outbox.insert(connection, Encoded.of(Message.of("t", text), trunkline.codec()));
    }

    private void pass(Duration time) {
        clock.addAndGet(time.toNanos());
    }

    private long rows(int slot) {
        return database.number("select count(*) from trunkline.outbox_" + slot);
    }

    @Test
    void what_it_publishes_goes_to_the_current_slot_soon_and_the_old_one_is_cleared() throws SQLException {
        try (Connection connection = database.connect()) {
            for (int slot = 0; slot < 9; slot++) {
                publish(connection, slot + " a");
                pass(Duration.ofSeconds(1));
                publish(connection, slot + " b");
                assertThat(rows(slot % 4)).as("slot %s", slot % 4).isEqualTo(2);
                trunkline.relayNow();
                assertThat(database.number("select trunkline.advance_outbox('0')"))
                        .isEqualTo((slot + 1) % 4);
                assertThat(database.query("select trunkline.clear_outbox(?, '0')", slot % 4))
                        .containsExactly("cleared");
                pass(Duration.ofSeconds(31));
            }
        }
        assertThat(Logs.texts(trunkline, "t")).hasSize(18);
    }

    @Test
    void it_begins_in_the_current_slot() throws SQLException {
        database.execute("update trunkline.installation set outbox_slot = 2");
        try (Connection connection = database.connect()) {
            publish(connection, "a");
        }
        assertThat(rows(2)).isOne();
    }

    @Test
    void what_it_knows_it_trusts_for_a_while() throws SQLException {
        try (Connection connection = database.connect()) {
            publish(connection, "a");
            database.number("select trunkline.advance_outbox('0')");
            pass(Duration.ofSeconds(29));
            publish(connection, "b");
            assertThat(rows(0)).isEqualTo(2);
            pass(Duration.ofSeconds(1));
            publish(connection, "c");
            assertThat(rows(1)).isOne();
            publish(connection, "d");
            assertThat(rows(1)).isEqualTo(2);
        }
    }
}
