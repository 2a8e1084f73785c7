package dev.trunkline.behaviour;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.trunkline.ConsumerGroupAdmin.TopicHealth;
import dev.trunkline.Message;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.testing.TestDatabase;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One process does the upkeep, any can; and it can be seen when that does not keep up. */
@Timeout(300)
class UpkeepTurnTest {

    private final TestDatabase database = TestDatabase.fresh();

    private String turn() {
        return database.query("select who from trunkline.upkeep_turn").getFirst();
    }

    private boolean take(String who) {
        return database.query("select trunkline.take_turn(?)", who).getFirst().equals("t");
    }

    @Test
    void one_has_the_turn_until_it_leaves_it_or_is_not_heard_of() {
        database.open().close();
        assertThat(take("a")).isTrue();
        assertThat(take("b")).isFalse();
        assertThat(take("a")).isTrue();
        database.query("select trunkline.leave_turn('b')");
        assertThat(take("b")).isFalse();
        database.query("select trunkline.leave_turn('a')");
        assertThat(take("b")).isTrue();
        database.query("update trunkline.upkeep_turn set until = clock_timestamp() - interval '1 second'");
        assertThat(take("a")).isTrue();
        assertThat(take("b")).isFalse();
        // Somebody has set the clock back.
        database.query("update trunkline.upkeep_turn set until = clock_timestamp() + interval '1 hour'");
        assertThat(take("b")).isTrue();
    }

    @Test
    void a_process_that_ends_hands_the_turn_over_and_one_that_dies_loses_it() {
        try (Trunkline first = database.options().open()) {
            Awaitility.await().until(() -> !turn().equals("null"));
            assertThat(first.topics().list()).isEmpty();
        }
        assertThat(turn()).isEqualTo("null");
        assertThat(take("a process that died")).isTrue();
        database.query("update trunkline.upkeep_turn set until = clock_timestamp() - interval '1 second'");
        try (Trunkline next = database.options().open()) {
            Awaitility.await().until(() -> !turn().equals("a process that died"));
            assertThat(next.topics().list()).isEmpty();
        }
    }

    @Test
    void a_step_that_fails_does_not_keep_the_others_from_being_done() {
        try (Trunkline trunkline = database.open()) {
            trunkline
                    .topics()
                    .create(TopicConfiguration.pubSub("t").withPartitions(1).withNamespace("shop"));
            database.query("select trunkline.subscribe('g', 't')");
            // One that no group can be made of.
            database.query("insert into trunkline.wildcard (group_name, namespace, mode, start_mode, attempts)"
                    + " values ('bad', 'shop', 'PULL', 'NOW', 0)");
            assertThatThrownBy(trunkline::upkeepNow).hasMessageContaining("can not be tried 0 times");
            database.query("update trunkline.subscription set unattended_since = null");
            assertThatThrownBy(trunkline::upkeepNow).hasMessageContaining("can not be tried 0 times");
            assertThat(database.query("select unattended_since is not null from trunkline.subscription"))
                    .containsExactly("t");
        }
    }

    /** A session is ended after so many sweeps without a beat. */
    @Test
    void sweeps_come_once_a_minute_however_many_processes_are_started() {
        try (Trunkline first = database.open();
                Trunkline second = database.open()) {
            database.query("select trunkline.begin_session('s')");
            first.upkeepNow();
            second.upkeepNow();
            first.upkeepNow();
            assertThat(database.query("select swept_beat, still from trunkline.session"))
                    .containsExactly("0|0");
            database.query("update trunkline.upkeep_turn set pruned_at = pruned_at - interval '1 minute'");
            second.upkeepNow();
            assertThat(database.query("select still from trunkline.session")).containsExactly("1");
        }
    }

    @Test
    void it_is_seen_that_upkeep_falls_behind_and_that_it_has_caught_up() {
        try (Trunkline trunkline = database.open()) {
            trunkline
                    .topics()
                    .create(TopicConfiguration.pubSub("t").withPartitions(1).withRetention(Duration.ofHours(2)));
            for (int i = 0; i < 5; i++) {
                trunkline.publisher().publishAll(List.of(Message.of("t", "a"), Message.of("t", "b")));
                database.query("select trunkline.roll_segment(1)");
            }
            database.query("update trunkline.segment set opened_at = opened_at - interval '3 hours'");
            assertThat(health(trunkline))
                    .matches(TopicHealth::fallingBehind)
                    .matches(health -> health.overdueSegments() == 5 && health.dropped() == 0);
            trunkline.upkeepNow();
            assertThat(health(trunkline))
                    .matches(health -> !health.fallingBehind() && health.overdueSegments() == 0)
                    .matches(health -> health.dropped() == 10 && health.segments() == 1);
            trunkline.publisher().publish(Message.of("t", "c"));
            assertThat(health(trunkline).published()).isOne();
        }
    }

    private void publishSegments(Trunkline trunkline, TopicConfiguration topic) {
        trunkline.topics().create(topic);
        for (int i = 0; i < 5; i++) {
            trunkline.publisher().publish(Message.of("t", "m"));
            database.query("select trunkline.roll_segment(1)");
        }
        database.query("update trunkline.segment set opened_at = opened_at - interval '3 days'");
    }

    private double overdueFigure() {
        return Double.parseDouble(
                database.query("select value from trunkline.metrics() where name = 'topic_overdue_segments'")
                        .getFirst());
    }

    @Test
    void it_is_seen_that_upkeep_falls_behind_with_what_nobody_hears() {
        try (Trunkline trunkline = database.open()) {
            publishSegments(
                    trunkline, TopicConfiguration.pubSub("t").withPartitions(1).withRetention(Duration.ofDays(7)));
            assertThat(health(trunkline)).matches(health -> health.overdueSegments() == 5);
            assertThat(overdueFigure()).isEqualTo(5);
            trunkline.upkeepNow();
            assertThat(health(trunkline)).matches(health -> health.overdueSegments() == 0 && health.segments() == 1);
            assertThat(overdueFigure()).isZero();
        }
    }

    @Test
    void it_is_seen_that_upkeep_falls_behind_with_what_no_group_may_hold_back_any_longer() {
        try (Trunkline trunkline = database.open()) {
            publishSegments(
                    trunkline, TopicConfiguration.pubSub("t").withPartitions(1).withRetention(Duration.ofHours(1)));
            database.query("select trunkline.subscribe_pull('late', 't', 'BEGINNING')");
            assertThat(health(trunkline)).matches(health -> health.overdueSegments() == 0);
            assertThat(overdueFigure()).isZero();
            database.query("update trunkline.topic set hard_cap = '2 days'");
            assertThat(health(trunkline)).matches(health -> health.overdueSegments() == 5);
            assertThat(overdueFigure()).isEqualTo(5);
            trunkline.upkeepNow();
            assertThat(health(trunkline)).matches(health -> health.overdueSegments() == 0 && health.segments() == 1);
        }
    }

    private static TopicHealth health(Trunkline trunkline) {
        return trunkline.admin().topics().getFirst();
    }
}
