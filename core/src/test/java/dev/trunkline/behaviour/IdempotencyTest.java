package dev.trunkline.behaviour;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.Message;
import dev.trunkline.Receipt;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.testing.Logs;
import dev.trunkline.testing.TestDatabase;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** P8: a publish that is tried again with its idempotency key is one message. */
class IdempotencyTest {

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
    void the_second_try_is_told_of_the_first() {
        Receipt first = trunkline.publisher().publish(message("a", "once"));
        Receipt second = trunkline.publisher().publish(message("b", "once"));

        assertThat(first.duplicate()).isFalse();
        assertThat(second.duplicate()).isTrue();
        assertThat(second.id()).isEqualTo(first.id());
        assertThat(Logs.texts(trunkline, "t")).containsExactly("a");
    }

    @Test
    void all_ways_share_the_key() throws Exception {
        publishInTransaction(message("outbox", "once"));
        publishInTransaction(message("outbox again", "once"));
        trunkline.relayNow();
        trunkline.publisher().publish(message("direct", "once"));
        trunkline.publisher().publish(message("later", "once").withDelay(Duration.ofMillis(1)));
        trunkline.relayNow();
        Awaitility.await().pollDelay(Duration.ofMillis(20)).until(() -> trunkline.relayNow() == 0);
        assertThat(Logs.texts(trunkline, "t")).containsExactly("outbox");
    }

    @Test
    void a_batch_keeps_the_first_of_each_key_and_leaves_no_gap() {
        List<Receipt> receipts = trunkline
                .publisher()
                .publishAll(List.of(
                        message("a1", "a").withKey("k"),
                        Message.of("t", "x").withKey("k"),
                        message("a2", "a").withKey("k"),
                        message("b1", "b").withKey("k")));
        assertThat(receipts).extracting(Receipt::duplicate).containsExactly(false, false, true, false);
        assertThat(receipts.get(2).id()).isEqualTo(receipts.get(0).id());
        assertThat(receipts.get(3).offset()).hasValue(2);
        assertThat(Logs.texts(trunkline, "t")).containsExactly("a1", "x", "b1");
        assertThat(Logs.all(trunkline, "t")).extracting(m -> m.unitEnd()).containsExactly(false, false, true);
        Logs.assertDense(trunkline, "t");
    }

    @Test
    void a_unit_whose_last_message_is_a_duplicate_still_ends() throws Exception {
        trunkline.publisher().publish(message("first", "once").withKey("k"));
        try (Connection connection = database.connect()) {
            connection.setAutoCommit(false);
            trunkline.publisher().publish(connection, Message.of("t", "a").withKey("k"));
            trunkline.publisher().publish(connection, Message.of("t", "b").withKey("k"));
            trunkline.publisher().publish(connection, message("c", "once").withKey("k"));
            connection.commit();
        }
        trunkline.relayNow();
        assertThat(Logs.all(trunkline, "t"))
                .extracting(m -> m.text() + m.unitEnd())
                .containsExactly("firsttrue", "afalse", "btrue");
    }

    @Test
    void a_key_in_an_open_transaction_stalls_nobody() throws Exception {
        try (Connection held = database.connect()) {
            held.setAutoCommit(false);
            trunkline.publisher().publish(held, message("held", "once"));
            assertThat(trunkline.publisher().publish(message("direct", "once")).duplicate())
                    .isFalse();
            held.commit();
        }
        trunkline.relayNow();
        assertThat(Logs.texts(trunkline, "t")).containsExactly("direct");
    }

    @Test
    void a_key_is_forgotten_after_one_window_at_the_earliest_and_two_at_the_latest() {
        trunkline.publisher().publish(message("a", "once"));
        assertThat(rotate("23 hours")).isFalse();
        assertThat(rotate("25 hours")).isTrue();
        assertThat(trunkline.publisher().publish(message("b", "once")).duplicate())
                .isTrue();
        assertThat(rotate("50 hours")).isTrue();
        assertThat(trunkline.publisher().publish(message("c", "once")).duplicate())
                .isFalse();
        assertThat(Logs.texts(trunkline, "t")).containsExactlyInAnyOrder("a", "c");
    }

    private boolean rotate(String later) {
        return database.query("select trunkline.rotate_idempotency(clock_timestamp() + ?::interval)", later)
                .getFirst()
                .equals("t");
    }

    private void publishInTransaction(Message message) throws Exception {
        try (Connection connection = database.connect()) {
            connection.setAutoCommit(false);
            trunkline.publisher().publish(connection, message);
            connection.commit();
        }
    }

    private static Message message(String text, String idempotencyKey) {
        return Message.of("t", text).withIdempotencyKey(idempotencyKey);
    }
}
