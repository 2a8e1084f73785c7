package dev.trunkline.behaviour;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.trunkline.Log;
import dev.trunkline.LogMessage;
import dev.trunkline.Message;
import dev.trunkline.OffsetOutOfRangeException;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.UnknownTopicException;
import dev.trunkline.testing.Logs;
import dev.trunkline.testing.TestDatabase;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The log is cut into segments that come and go; offsets do not notice. */
class SegmentsTest {

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

    /** The enemy: upkeep has chosen it when somebody drops it. */
    @Test
    void a_topic_that_was_dropped_gets_no_new_segment() {
        assertThat(database.query("select trunkline.upkeep('roll', 4711)")).containsExactly("null");
    }

    @Test
    void offsets_go_on_across_segments_and_a_read_does_not_see_the_seam() {
        publish(0, 10);
        roll();
        publish(10, 20);
        roll();
        roll();
        publish(20, 30);
        assertThat(trunkline.log().read("t", 0, 0, 100))
                .extracting(LogMessage::offset)
                .containsExactlyElementsOf(
                        IntStream.range(0, 30).mapToObj(i -> (long) i).toList());
        assertThat(trunkline.log().read("t", 0, 5, 10)).hasSize(10);
        assertThat(trunkline.log().read("t", 0, 10, 3))
                .extracting(LogMessage::text)
                .containsExactly("m10", "m11", "m12");
        assertThat(trunkline.log().read("t", 0, 30, 3)).isEmpty();
        Logs.assertDense(trunkline, "t");
    }

    @Test
    void a_reader_that_knows_old_segments_finds_the_new_ones() throws Exception {
        var tail = trunkline.log().tail("t");
        publish(0, 3);
        assertThat(tail.poll(Duration.ofSeconds(60))).hasSize(3);
        roll();
        publish(3, 5);
        assertThat(tail.poll(Duration.ofSeconds(60)))
                .extracting(LogMessage::text)
                .containsExactly("m3", "m4");
        drop("5");
        publish(5, 6);
        assertThat(tail.poll(Duration.ofSeconds(60)))
                .extracting(LogMessage::text)
                .containsExactly("m5");
    }

    @Test
    void a_tail_goes_on_where_another_had_come_as_long_as_that_is_kept() throws Exception {
        trunkline.topics().create(TopicConfiguration.queue("other").withPartitions(1));
        var tail = trunkline.log().tail("t");
        String beginning = tail.position();
        publish(0, 3);
        assertThat(tail.poll(Duration.ofSeconds(60))).hasSize(3);
        String position = tail.position();
        publish(3, 5);
        assertThat(trunkline.log().resume("t", position).poll(Duration.ofSeconds(60)))
                .extracting(LogMessage::text)
                .containsExactly("m3", "m4");
        assertThat(trunkline.log().resume("t", beginning).poll(Duration.ofSeconds(60)))
                .hasSize(5);
        assertThatThrownBy(() -> trunkline.log().resume("other", position))
                .isInstanceOf(IllegalArgumentException.class);
        roll();
        publish(5, 6);
        drop("5");
        assertThatThrownBy(() -> trunkline.log().resume("t", position)).isInstanceOf(OffsetOutOfRangeException.class);
        trunkline.topics().drop("t");
        trunkline.topics().create(TopicConfiguration.queue("t").withPartitions(1));
        assertThatThrownBy(() -> trunkline.log().resume("t", beginning))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("no position in topic \"t\"");
    }

    @Test
    void large_messages_are_read_and_followed_a_few_at_a_time() throws Exception {
        String large = "x".repeat(900_000);
        for (int i = 0; i < 40; i++) {
            trunkline.publisher().publish(Message.of("t", large));
        }
        List<LogMessage> read = trunkline.log().read("t", 0, 0, 1_000);
        assertThat(read).hasSizeBetween(16, 39);
        var tail = trunkline.log().fromBeginning("t");
        int told = 0;
        while (told < 40) {
            List<LogMessage> some = tail.poll(Duration.ofSeconds(60));
            assertThat(some).hasSizeBetween(1, 24).first().matches(first -> first.payload().length == 900_000);
            assertThat(some.getFirst().offset()).isEqualTo(told);
            told += some.size();
        }
    }

    @Test
    void an_emptied_log_does_not_start_again() {
        publish(0, 5);
        roll();
        assertThat(drop("5")).isEqualTo(1);
        assertThat(trunkline.log().first("t", 0)).isEqualTo(5);
        assertThat(trunkline.log().end("t", 0)).isEqualTo(5);
        roll();
        assertThat(trunkline.publisher().publish(Message.of("t", "m5")).offset())
                .hasValue(5);
    }

    @Test
    void only_whole_segments_below_the_watermark_are_dropped_and_never_the_current_one() {
        publish(0, 5);
        roll();
        publish(5, 10);
        assertThat(drop("4")).isZero();
        assertThat(drop("5")).isEqualTo(1);
        assertThat(drop("100")).isZero();
        assertThat(Logs.texts(trunkline, "t")).hasSize(5);
        assertThatThrownBy(() -> trunkline.log().read("t", 0, 4, 1))
                .isInstanceOf(OffsetOutOfRangeException.class)
                .hasMessageContaining("which holds 5 to 9");
        assertThatThrownBy(() -> trunkline.log().read("t", 0, 11, 1)).isInstanceOf(OffsetOutOfRangeException.class);
        assertThat(database.query("select to_regclass('trunkline.segment_1')")).containsExactly("null");
        assertThat(database.number("select count(*) from pg_proc where proname like 'segment\\_1\\_%'"))
                .isZero();
    }

    @Test
    void upkeep_closes_a_segment_by_size_and_by_age_but_not_an_empty_one() {
        trunkline.topics().alter(trunkline.topics().find("t").orElseThrow().withSegments(16_384, Duration.ofDays(1)));
        trunkline.upkeepNow();
        assertThat(segments()).isEqualTo(1);
        trunkline.publisher().publish(Message.of("t", "x".repeat(40_000)));
        trunkline.upkeepNow();
        assertThat(segments()).isEqualTo(2);
        trunkline.upkeepNow();
        assertThat(segments()).isEqualTo(2);
        assertThat(database.query("select trunkline.topics_to_roll(clock_timestamp() + interval '2 days')"))
                .isEmpty();
        publish(0, 1);
        assertThat(database.query("select trunkline.topics_to_roll(clock_timestamp() + interval '2 days')"))
                .containsExactly("1");
    }

    @Test
    void upkeep_drops_what_is_older_than_the_retention_of_its_own_topic_only() {
        trunkline.topics().create(TopicConfiguration.queue("kept").withPartitions(1));
        trunkline.publisher().publish(Message.of("kept", "k"));
        database.query("select trunkline.roll_segment(2)");
        publish(0, 5);
        roll();
        publish(5, 6);
        trunkline.topics().alter(trunkline.topics().find("t").orElseThrow().withRetention(Duration.ofSeconds(1)));
        database.execute("update trunkline.segment set opened_at = opened_at - interval '1 minute'");
        trunkline.upkeepNow();
        assertThat(Logs.texts(trunkline, "t")).containsExactly("m5");
        assertThat(Logs.texts(trunkline, "kept")).containsExactly("k");
    }

    @Test
    void a_time_is_found_by_halving_in_any_segment() {
        publish(0, 50);
        roll();
        publish(50, 100);
        roll();
        publish(100, 120);
        List<LogMessage> all = Logs.all(trunkline, "t");
        for (int i : new int[] {0, 1, 25, 49, 50, 51, 99, 100, 119}) {
            Instant at = all.get(i).appendedAt();
            long expected = all.stream()
                    .filter(m -> !m.appendedAt().isBefore(at))
                    .findFirst()
                    .orElseThrow()
                    .offset();
            assertThat(trunkline.log().offsetAt("t", 0, at)).as("of %s", i).isEqualTo(expected);
        }
        assertThat(trunkline.log().offsetAt("t", 0, Instant.EPOCH)).isZero();
        assertThat(trunkline.log().offsetAt("t", 0, Instant.now().plusSeconds(3600)))
                .isEqualTo(120);
        drop("50");
        assertThat(trunkline.log().offsetAt("t", 0, Instant.EPOCH)).isEqualTo(50);
    }

    @Test
    void a_long_reader_of_a_segment_puts_off_its_drop_and_blocks_no_publisher() throws Exception {
        publish(0, 5);
        roll();
        try (Connection reader = database.connect()) {
            reader.setAutoCommit(false);
            TestDatabase.query(reader, "select count(*) from trunkline.segment_1");
            assertThatThrownBy(() -> drop("5")).hasMessageContaining("lock timeout");
            publish(5, 6);
            reader.commit();
        }
        assertThat(drop("5")).isEqualTo(1);
        assertThat(Logs.texts(trunkline, "t")).containsExactly("m5");
    }

    @Test
    void a_tail_does_not_go_on_in_another_topic_of_the_same_name() throws Exception {
        publish(0, 5);
        Log.Tail tail = trunkline.log().fromBeginning("t");
        assertThat(tail.poll(Duration.ofSeconds(10))).hasSize(5);
        String position = tail.position();
        trunkline.topics().drop("t");
        trunkline
                .topics()
                .create(TopicConfiguration.queue("t").withPartitions(1).withLanes(1));
        publish(0, 9);
        assertThatThrownBy(() -> tail.poll(Duration.ofSeconds(1)))
                .isInstanceOf(UnknownTopicException.class)
                .hasMessageContaining("another one has its name");
        assertThat(tail.position()).isEqualTo(position);
    }

    @Test
    void nothing_is_read_where_nothing_is_wanted() {
        publish(0, 2);
        assertThat(trunkline.log().read("t", 0, 1, 0)).isEmpty();
        assertThat(trunkline.log().read("t", 0, 1, 5)).hasSize(1);
    }

    /** The catalogue is read as it was, tables are gone at once. */
    @Test
    void how_far_groups_are_can_be_asked_while_a_segment_is_dropped() throws Exception {
        database.query("select trunkline.subscribe('shared', 't', 'BEGINNING')");
        publish(0, 5);
        roll();
        publish(5, 6);
        try (Connection reader = database.connect()) {
            reader.setAutoCommit(false);
            reader.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            assertThat(TestDatabase.query(reader, "select count(*) from trunkline.segment"))
                    .containsExactly("2");
            drop("5");
            assertThat(TestDatabase.query(
                            reader,
                            "select end_offset, pending, oldest from trunkline.lags(array[1]) where strand = 0"))
                    .containsExactly("6|6|null");
        }
    }

    private void publish(int from, int to) {
        for (int i = from; i < to; i++) {
            trunkline.publisher().publish(Message.of("t", "m" + i));
        }
    }

    private void roll() {
        database.query("select trunkline.roll_segment(1)");
    }

    private int drop(String watermark) {
        String dropped = database.query("select trunkline.drop_segment(1, ?::bigint[])", "{" + watermark + "}")
                .getFirst();
        return dropped.equals("null") ? 0 : Integer.parseInt(dropped);
    }

    private long segments() {
        return database.number("select count(*) from trunkline.segment");
    }
}
