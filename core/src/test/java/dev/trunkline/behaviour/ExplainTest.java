package dev.trunkline.behaviour;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.Batch;
import dev.trunkline.Message;
import dev.trunkline.PullConsumer;
import dev.trunkline.PullOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.testing.TestDatabase;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Why a message is where it is, said so that somebody can do something about it. */
@Timeout(300)
class ExplainTest {

    private static final Duration LONG = Duration.ofMinutes(10);
    private static final String TIME = "\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\S+";

    private final TestDatabase database = TestDatabase.fresh();
    private Trunkline trunkline;
    private PullConsumer<String> group;

    @BeforeEach
    void open() {
        trunkline = database.open();
        trunkline.topics().create(TopicConfiguration.pubSub("t").withPartitions(1));
        group = trunkline.pull(
                "g", "t", String.class, PullOptions.fromBeginning().withAttempts(2));
        for (String key : List.of("a", "b", "a", "c")) {
            trunkline.publisher().publish(Message.of("t", "m").withKey(key));
        }
    }

    @AfterEach
    void close() {
        trunkline.close();
    }

    /** All facts but where it lies. */
    private List<String> explain(long offset) {
        return database.query(
                "select fact || ': ' || detail from trunkline.explain('g', 't', a_partition => 0, a_offset => ?)"
                        + " where fact <> 'message'",
                offset);
    }

    private static void assertSays(List<String> facts, String... patterns) {
        assertThat(facts).hasSize(patterns.length);
        for (int i = 0; i < patterns.length; i++) {
            assertThat(facts.get(i)).matches(patterns[i]);
        }
    }

    @Test
    void a_message_in_a_batch_says_which_and_until_when_and_others_what_they_wait_for() {
        assertSays(explain(1), "waiting: The group is pulled from; it has done this partition up to 0\\.");
        Batch<String> batch = group.pop(2, LONG).orElseThrow();
        assertSays(
                explain(1),
                "in a batch: It was given out at " + TIME + ", at epoch 1; the lease ends at " + TIME + "\\.");
        assertSays(
                explain(2),
                "behind: On its key it waits for offset 0\\.",
                "waiting: Its partition has an open batch: offsets \\{\\[0,2\\)}, at epoch 1, until " + TIME
                        + "\\. It is done up to 0\\.");
        database.execute("update trunkline.grant_0 set expires_at = clock_timestamp()");
        assertSays(
                explain(0),
                "in a batch: It was given out at " + TIME + ", at epoch 1; the lease ended at " + TIME
                        + ": whoever pops the partition next has it counted as a failure\\.");
        group.ack(batch.token());
        assertSays(explain(0), "done: .*");
        assertSays(explain(2), "waiting: The group is pulled from; it has done this partition up to 2\\.");
    }

    @Test
    void a_message_that_has_failed_says_how_often_why_and_when_it_comes_again() {
        Batch<String> batch = group.pop(1, LONG).orElseThrow();
        group.nack(batch.token(), Duration.ofHours(1), "no mail server");
        assertSays(
                explain(0),
                "failed: 1 times of 2, last at " + TIME + " no mail server; it is tried again, from " + TIME + " on\\.",
                "waiting: The group is pulled from; .*");
        assertSays(
                explain(2),
                "behind: On its key it waits for offset 0, failed 1 times, due again at " + TIME + "\\.",
                "waiting: .*");
        database.execute("update trunkline.attempt set due_at = null");
        Batch<String> again = group.pop(1, LONG).orElseThrow();
        group.nack(again.token(), Duration.ZERO, "still none");
        long letter = database.number("select id from trunkline.dead_letter");
        assertSays(explain(0), "dead letter: .*");
        assertSays(
                explain(2),
                "behind: On its key it waits for dead letter " + letter
                        + ", offset 0, until it is redriven or discarded\\.",
                "waiting: .*");
        group.ack(group.pop(10, LONG).orElseThrow().token());
        assertSays(
                explain(2),
                "parked: It waits aside, in order, because its key was blocked\\.",
                "behind: On its key it waits for dead letter .*",
                "waiting: .*");
    }

    @Test
    void a_delayed_message_says_when_it_is_due() {
        String explain = "select detail from trunkline.explain('g', 't', ?)";
        long id = database.number("select trunkline.publish('t', 'later', deliver_at => '2040-01-02 03:04:05+00')");
        long late = database.number("select trunkline.publish('t', 'now')");
        String delayed = "It is committed and delayed: it is due at 2040-01-0";
        assertThat(database.query(explain, id)).singleElement().asString().startsWith(delayed);
        assertThat(database.query(explain, late))
                .singleElement()
                .asString()
                .matches("It was published at " + TIME + ", is committed, and waits in the outbox for the relay\\.");
        trunkline.relayNow();
        assertThat(database.query(explain, id)).singleElement().asString().startsWith(delayed);
        assertThat(database.query(explain, 999_999L)).singleElement().asString().startsWith("It was never committed");
    }

    @Test
    void what_was_appended_and_what_groups_have_done_is_told_however_they_are_used() {
        trunkline.topics().create(TopicConfiguration.queue("unused").withPartitions(2));
        trunkline.publisher().publish(Message.of("unused", "x"));
        group.ack(group.pop(3, LONG).orElseThrow().token());
        trunkline.pull("late", "t", String.class, PullOptions.fromNow());
        assertThat(
                        database.query(
                                "select name, topic, group_name, value from trunkline.metrics() where name ~ 'done|appended' order by 1, 2, 3"))
                .containsExactly(
                        "group_done_messages|t|g|3",
                        "group_done_messages|t|late|4",
                        "topic_appended_messages|t|null|4",
                        "topic_appended_messages|unused|null|1");
    }
}
