package dev.trunkline.behaviour;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.trunkline.ConsumerGroup;
import dev.trunkline.ConsumerGroupAdmin.Gap;
import dev.trunkline.ConsumerGroupAdmin.GroupState;
import dev.trunkline.ConsumerGroupAdmin.Health;
import dev.trunkline.ConsumerGroupAdmin.TopicHealth;
import dev.trunkline.ConsumerGroupException;
import dev.trunkline.GroupStatus;
import dev.trunkline.Message;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.testing.TestDatabase;
import java.sql.Connection;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Groups that nobody serves: when they are dead, what they hold back, what they miss, and how they come back. Time is what upkeep is told. */
@Timeout(300)
class GroupsDieTest {

    private final TestDatabase database = TestDatabase.fresh();
    private final List<String> seen = new CopyOnWriteArrayList<>();
    private Trunkline trunkline;

    @BeforeEach
    void open() {
        // Nothing is done behind the test's back; and with the usual lease a slow machine is not taken for a dead one.
        trunkline = database.open();
        trunkline.topics().create(TopicConfiguration.pubSub("t").withPartitions(1));
    }

    @AfterEach
    void close() {
        trunkline.close();
    }

    private ConsumerGroup<String> start(String group) {
        return trunkline
                .createConsumerGroup(group, "t", String.class)
                .addConsumer("c", delivery -> seen.add(delivery.payload()))
                .start(SubscriptionOptions.fromBeginning());
    }

    private void publish(String... payloads) {
        for (String payload : payloads) {
            trunkline.publisher().publish(Message.of("t", payload).withKey("k"));
        }
    }

    /** What upkeep sees so much later. */
    private void watch(String later) {
        database.query("select trunkline.watch_groups(clock_timestamp() + ?::interval)", later);
    }

    private GroupState state(String group) {
        return trunkline.admin().find(group, "t").orElseThrow();
    }

    /** A segment that can be dropped, with all that was published up to now. */
    private void closeSegment() {
        database.query("select trunkline.roll_segment(1)");
    }

    private boolean trim(String later) {
        return !"null"
                .equals(database.queryWhenUnlocked("select trunkline.trim(1, clock_timestamp() + ?::interval)", later)
                        .getFirst());
    }

    @Test
    void a_group_that_nobody_serves_is_dead_after_its_time_and_lives_again_when_somebody_does() {
        start("g").close();
        watch("1 second");
        assertThat(state("g").status()).isEqualTo(GroupStatus.ACTIVE);
        assertThat(state("g").health()).isEqualTo(Health.UNATTENDED);
        database.execute(
                "update trunkline.subscription set unattended_since = unattended_since - interval '3 minutes'");
        assertThat(state("g").health()).isEqualTo(Health.NEAR_TIMEOUT);
        watch("4 minutes");
        assertThat(state("g").status()).isEqualTo(GroupStatus.DEAD);
        publish("m");
        ConsumerGroup<String> again = start("g");
        Awaitility.await().until(() -> seen.contains("m"));
        assertThat(state("g").status()).isEqualTo(GroupStatus.ACTIVE);
        assertThat(state("g").health()).isEqualTo(Health.HEALTHY);
        assertThat(database.query("select what from trunkline.group_event order by id"))
                .containsExactly("ACTIVE to DEAD", "DEAD to ACTIVE");
        again.close();
    }

    /** The enemy: the database was away for longer than the timeout, so all beats are old; upkeep looks first. */
    @Test
    void one_late_look_kills_nobody() {
        ConsumerGroup<String> group = start("g");
        Awaitility.await().until(() -> state("g").members() == 1);
        watch("1 hour");
        assertThat(state("g").status()).isEqualTo(GroupStatus.ACTIVE);
        Awaitility.await().until(() -> {
            watch("1 second");
            return database.query("select unattended_since from trunkline.groups")
                    .equals(List.of("null"));
        });
        assertThat(state("g").status()).isEqualTo(GroupStatus.ACTIVE);
        group.close();
    }

    /** As above, and the database goes away again before upkeep has seen the beat that came after its first look. */
    @Test
    void two_late_looks_with_a_beat_between_them_kill_nobody() {
        database.query("select subscription from trunkline.subscribe('g', 't', 'BEGINNING')");
        database.query("select trunkline.join_group(1, trunkline.begin_session('s'))");
        watch("1 hour");
        database.execute("update trunkline.subscription set unattended_since = clock_timestamp()");
        database.query("select trunkline.beat(1)");
        watch("2 hours");
        assertThat(state("g").status()).isEqualTo(GroupStatus.ACTIVE);
        watch("3 hours");
        assertThat(state("g").status()).isEqualTo(GroupStatus.DEAD);
    }

    @Test
    void a_group_that_is_served_is_not_dead_however_long_it_has_nothing_to_do() {
        ConsumerGroup<String> group = start("g");
        Awaitility.await().until(() -> state("g").members() == 1);
        database.execute("update trunkline.subscription set dead_after = '1 microsecond'");
        for (int i = 0; i < 3; i++) {
            watch("1 second");
        }
        assertThat(state("g").status()).isEqualTo(GroupStatus.ACTIVE);
        group.close();
    }

    @Test
    void three_deaths_in_a_day_are_flapping() {
        for (int i = 0; i < 3; i++) {
            ConsumerGroup<String> served = start("g");
            Awaitility.await()
                    .until(() -> state("g").status() == GroupStatus.ACTIVE
                            && state("g").members() == 1);
            served.close();
            watch("0");
            watch("6 minutes");
            assertThat(state("g").health()).isEqualTo(Health.DEAD);
        }
        ConsumerGroup<String> group = start("g");
        Awaitility.await()
                .until(() ->
                        state("g").status() == GroupStatus.ACTIVE && state("g").members() == 1);
        watch("0");
        assertThat(state("g").health()).isEqualTo(Health.FLAPPING);
        group.close();
        watch("0");
        assertThat(state("g").health())
                .as("what is wrong now comes before what was")
                .isEqualTo(Health.UNATTENDED);
    }

    @Test
    void the_group_of_a_queue_is_never_dead() {
        trunkline.topics().create(TopicConfiguration.queue("q").withPartitions(1));
        trunkline
                .createConsumer("q", String.class)
                .addConsumer("c", delivery -> {})
                .start(SubscriptionOptions.fromBeginning())
                .close();
        watch("0");
        watch("3 days");
        assertThat(trunkline.admin().find("shared", "q").orElseThrow().status()).isEqualTo(GroupStatus.ACTIVE);
    }

    @Test
    void every_transition_that_is_not_allowed_names_both_states() {
        start("g").close();
        assertThatThrownBy(() -> trunkline.admin().resume("g", "t"))
                .isInstanceOf(ConsumerGroupException.class)
                .hasMessageContaining("is ACTIVE: it can not become ACTIVE");
        trunkline.admin().pause("g", "t");
        assertThatThrownBy(() -> trunkline.admin().pause("g", "t"))
                .hasMessageContaining("is PAUSED: it can not become PAUSED");
        trunkline.admin().resume("g", "t");
        watch("0");
        watch("6 minutes");
        assertThatThrownBy(() -> trunkline.admin().pause("g", "t"))
                .hasMessageContaining("is DEAD: it can not become PAUSED");
        trunkline.admin().resurrect("g", "t", true);
        assertThat(state("g").status()).isEqualTo(GroupStatus.ACTIVE);
        watch("1 minute");
        assertThat(state("g").status()).isEqualTo(GroupStatus.ACTIVE);
        trunkline.admin().cancel("g", "t");
        for (String status : List.of("ACTIVE", "PAUSED", "CANCELLED")) {
            assertThatThrownBy(() -> database.query("select trunkline.change_group('g', 't', ?)", status))
                    .hasMessageContaining("is CANCELLED: it can not become " + status);
        }
        assertThatThrownBy(() -> database.query("select trunkline.change_group('g', 't', 'DEAD')"))
                .hasMessageContaining("can not be made \"DEAD\"");
    }

    // ---- what groups hold back ----

    @Test
    void an_active_or_paused_group_keeps_what_it_has_not_done_and_a_dead_one_does_not_but_its_gap_is_told() {
        start("g").close();
        publish("a", "b");
        closeSegment();
        assertThat(trim("8 days")).isFalse();
        TopicHealth pinned = trunkline.admin().topics().getFirst();
        assertThat(pinned.unheard()).isFalse();
        database.execute("update trunkline.topic set retention = '1 microsecond'");
        pinned = trunkline.admin().topics().getFirst();
        assertThat(pinned.pinnedBy()).contains("g");
        assertThat(pinned.pinnedBytes()).isPositive();
        trunkline.admin().pause("g", "t");
        assertThat(trim("8 days")).isFalse();
        trunkline.admin().resume("g", "t");
        watch("0");
        watch("6 minutes");
        assertThat(trunkline.admin().topics().getFirst().pinnedBy()).isEmpty();
        assertThat(trim("8 days")).isTrue();
        assertThat(trunkline.admin().gaps("g", "t")).singleElement().satisfies(gap -> {
            assertThat(List.of(gap.from(), gap.to())).containsExactly(0L, 2L);
            assertThat(gap.reason()).isEqualTo("RETENTION");
        });
        publish("c");
        ConsumerGroup<String> again = start("g");
        Awaitility.await().until(() -> !seen.isEmpty());
        assertThat(seen).containsExactly("c");
        assertThat(trunkline.admin().explain("g", "t", 0, 1)).extracting("fact").contains("passed over");
        again.close();
    }

    @Test
    void a_paused_group_holds_back_until_the_zombie_ttl_and_then_no_longer() {
        start("g").close();
        trunkline.admin().pause("g", "t");
        publish("a");
        closeSegment();
        watch("6 days");
        assertThat(trim("8 days")).isFalse();
        watch("7 days 1 minute");
        assertThat(state("g").status()).isEqualTo(GroupStatus.PAUSED);
        assertThat(state("g").releasedAt()).isPresent();
        assertThat(trim("8 days")).isTrue();
        assertThat(state("g").passedOver()).isEqualTo(1);
    }

    @Test
    void the_hard_cap_passes_a_live_group_which_is_told_and_goes_on_behind_it() throws Exception {
        CountDownLatch gate = new CountDownLatch(1);
        for (int i = 0; i < 20; i++) {
            publish("old " + i);
        }
        closeSegment();
        ConsumerGroup<String> group = trunkline
                .createConsumerGroup("g", "t", String.class)
                .addConsumer("c", delivery -> {
                    gate.await();
                    seen.add(delivery.payload());
                })
                .start(SubscriptionOptions.fromBeginning().withWindow(2));
        Awaitility.await().until(() -> group.metrics().underWay() > 0);
        assertThat(trim("29 days")).isFalse();
        assertThat(trim("31 days")).isTrue();
        publish("d");
        gate.countDown();
        Awaitility.await().until(() -> seen.contains("d"));
        assertThat(trunkline.admin().gaps("g", "t")).extracting(Gap::reason).containsExactly("RETENTION");
        Awaitility.await().until(() -> state("g").pending() == 0);
        group.close();
    }

    @Test
    void a_topic_that_nobody_listens_to_keeps_messages_for_a_day() {
        publish("a");
        closeSegment();
        assertThat(trim("23 hours")).isFalse();
        assertThat(trunkline.admin().topics().getFirst().unheard()).isTrue();
        assertThat(trim("25 hours")).isTrue();
    }

    @Test
    void all_can_be_declared_done_and_the_gap_is_told() {
        start("g").close();
        publish("a", "b");
        assertThat(trunkline.admin().forceComplete("g", "t")).isEqualTo(2);
        assertThat(state("g").pending()).isZero();
        assertThat(state("g").passedOver()).isEqualTo(2);
        assertThat(trunkline.admin().forceComplete("g", "t")).isZero();
        publish("c");
        watch("0");
        watch("6 minutes");
        trunkline.admin().resurrect("g", "t", false);
        assertThat(state("g").pending()).isZero();
        assertThat(trunkline.admin().gaps("g", "t")).extracting(Gap::reason).containsExactly("FORCED", "FORCED");
    }

    @Test
    void a_group_that_is_cancelled_from_outside_stops_in_its_process_and_is_swept_later() {
        ConsumerGroup<String> group = start("g");
        Awaitility.await().until(() -> state("g").members() == 1);
        trunkline.admin().cancel("g", "t");
        Awaitility.await()
                .until(() -> database.number("select count(*) from trunkline.holder where session is not null") == 0);
        publish("after");
        group.close();
        assertThat(seen).isEmpty();
        database.query("select trunkline.sweep_groups(clock_timestamp() + interval '2 days')");
        assertThat(database.number("select count(*) from trunkline.holder")).isZero();
        assertThat(state("g").status()).isEqualTo(GroupStatus.CANCELLED);
        database.query("select trunkline.sweep_groups(clock_timestamp() + interval '31 days')");
        assertThat(trunkline.admin().find("g", "t")).isEmpty();
    }

    @Test
    void a_clock_that_is_set_forth_ends_no_session() {
        start("g");
        for (int hours = 1; hours <= 5; hours++) {
            database.query("select trunkline.sweep_groups(clock_timestamp() + ?::interval)", hours + " hours");
        }
        assertThat(database.number("select count(*) from trunkline.session where ended_at is null"))
                .isEqualTo(1);
    }

    @Test
    void a_session_that_no_sweep_of_an_hour_has_heard_of_is_ended() {
        database.query("select trunkline.begin_session('gone')");
        for (int minute = 0; minute < 60; minute++) {
            database.query("select trunkline.sweep_groups()");
        }
        assertThat(database.number("select count(*) from trunkline.session where ended_at is null"))
                .isEqualTo(1);
        database.query("select trunkline.sweep_groups()");
        assertThat(database.number("select count(*) from trunkline.session where ended_at is null"))
                .isZero();
    }

    @Test
    void topics_can_be_looked_at_while_a_segment_is_dropped() throws Exception {
        publish("m");
        closeSegment();
        try (Connection connection = database.connect()) {
            connection.setAutoCommit(false);
            connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            TestDatabase.query(connection, "select from trunkline.segment");
            assertThat(trim("90 days")).isTrue();
            assertThat(TestDatabase.query(connection, "select topic, segments from trunkline.topic_health"))
                    .containsExactly("t|2");
        }
    }
}
