package dev.trunkline.behaviour;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.Batch;
import dev.trunkline.ConsumerGroup;
import dev.trunkline.ConsumerGroupAdmin.GroupState;
import dev.trunkline.ConsumerGroupAdmin.Health;
import dev.trunkline.Message;
import dev.trunkline.PullConsumer;
import dev.trunkline.PullOptions;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.testing.TestDatabase;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A group is stalled, or nobody pulls from it, if something has waited for long; not because something has just come. */
@Timeout(300)
class GroupHealthTest {

    private final TestDatabase database = TestDatabase.fresh();
    private Trunkline trunkline;

    @BeforeEach
    void open() {
        trunkline = database.open();
        trunkline.topics().create(TopicConfiguration.pubSub("t").withPartitions(1));
    }

    @AfterEach
    void close() {
        trunkline.close();
    }

    private void publish(String payload) {
        trunkline.publisher().publish(Message.of("t", payload));
    }

    private GroupState state(String group) {
        return trunkline.admin().find(group, "t").orElseThrow();
    }

    /** What groups have done, and when they began, is as long ago as it would be after a quiet time. */
    private void passQuietTime() {
        database.execute("update trunkline.progress_0 set recorded_at = recorded_at - interval '10 minutes'");
        database.execute("update trunkline.subscription set created_at = created_at - interval '10 minutes',"
                + " status_since = status_since - interval '10 minutes'");
    }

    /** What is in the log has been there for longer. */
    private void letMessagesAge() {
        database.execute("update trunkline.segment_1 set appended_at = appended_at - interval '6 minutes'");
    }

    @Test
    void a_group_of_a_quiet_topic_is_stalled_by_what_has_waited_for_long_and_not_by_what_has_just_come() {
        CountDownLatch gate = new CountDownLatch(1);
        ConsumerGroup<String> group = trunkline
                .createConsumerGroup("g", "t", String.class)
                .addConsumer("c", delivery -> {
                    if (delivery.payload().equals("slow")) {
                        gate.await();
                    }
                })
                .start(SubscriptionOptions.fromBeginning());
        publish("quick");
        Awaitility.await().until(() -> state("g").pending() == 0 && state("g").done() == 1);
        passQuietTime();
        publish("slow");
        database.query("select trunkline.watch_groups()");
        assertThat(state("g").pending()).isOne();
        assertThat(state("g").health()).isEqualTo(Health.HEALTHY);
        letMessagesAge();
        assertThat(state("g").health()).isEqualTo(Health.STALLED);
        trunkline.admin().pause("g", "t");
        trunkline.admin().resume("g", "t");
        assertThat(state("g").health()).as("it has only begun again").isEqualTo(Health.HEALTHY);
        gate.countDown();
        Awaitility.await().until(() -> state("g").pending() == 0);
        group.close();
    }

    @Test
    void a_group_that_nobody_pulls_from_is_unattended_and_one_whose_batches_are_never_done_is_stalled() {
        PullConsumer<String> pull = trunkline.pull("p", "t", String.class, PullOptions.fromBeginning());
        passQuietTime();
        publish("m");
        assertThat(state("p").health()).isEqualTo(Health.HEALTHY);
        letMessagesAge();
        assertThat(state("p").health()).isEqualTo(Health.UNATTENDED);
        Batch<String> batch = pull.pop(1, Duration.ofHours(1)).orElseThrow();
        assertThat(state("p").health()).isEqualTo(Health.STALLED);
        database.execute("update trunkline.grant_0 set granted_at = granted_at - interval '10 minutes'");
        assertThat(state("p").health()).as("somebody still has the batch").isEqualTo(Health.STALLED);
        database.execute("update trunkline.grant_0 set expires_at = clock_timestamp()");
        assertThat(state("p").health()).isEqualTo(Health.UNATTENDED);
        database.execute("update trunkline.grant_0 set expires_at = clock_timestamp() + interval '1 hour'");
        pull.ack(batch.token());
        assertThat(state("p").health()).isEqualTo(Health.HEALTHY);
    }
}
