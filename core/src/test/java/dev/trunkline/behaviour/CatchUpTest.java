package dev.trunkline.behaviour;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.trunkline.BackfillConfiguration;
import dev.trunkline.ConsumerGroup;
import dev.trunkline.ConsumerGroupAdmin;
import dev.trunkline.ConsumerGroupAdmin.CatchUp;
import dev.trunkline.ConsumerGroupAdmin.CatchUpState;
import dev.trunkline.ConsumerGroupAdmin.Gap;
import dev.trunkline.ConsumerGroupException;
import dev.trunkline.GroupStatus;
import dev.trunkline.Message;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.testing.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What lies in the log when a group begins: how much of it at most, how fast, how far, stopped and resumed. */
@Timeout(300)
class CatchUpTest {

    private static final BackfillConfiguration UNBOUNDED =
            BackfillConfiguration.aggressive().withMaxMessages(Long.MAX_VALUE);

    private final TestDatabase database = TestDatabase.fresh();
    private final Trunkline trunkline = database.open();
    private final ConsumerGroupAdmin admin = trunkline.admin();
    private final List<String> seen = new CopyOnWriteArrayList<>();

    @BeforeEach
    void create() {
        trunkline.topics().create(TopicConfiguration.pubSub("t").withPartitions(4));
    }

    @AfterEach
    void close() {
        trunkline.close();
    }

    private void publish(String key, int from, int to) {
        trunkline
                .publisher()
                .publishAll(IntStream.range(from, to)
                        .mapToObj(n -> Message.of("t", key + n).withKey(key))
                        .toList());
    }

    private ConsumerGroup<String> start(SubscriptionOptions options) {
        return trunkline
                .createConsumerGroup("g", "t", String.class)
                .addConsumer("c", delivery -> seen.add(delivery.payload()))
                .start(options);
    }

    private CatchUp catchUp() {
        return admin.catchUp("g", "t").orElseThrow();
    }

    private void awaitDone(long total) {
        Awaitility.await().until(() -> catchUp().state() == CatchUpState.DONE);
        assertThat(catchUp()).matches(now -> now.total() == total && now.done() == total);
    }

    @Test
    void of_more_history_than_the_bound_the_last_part_is_handled_and_the_rest_is_a_gap() {
        publish("a", 0, 300);
        publish("c", 0, 100);
        try (ConsumerGroup<String> group = start(SubscriptionOptions.fromBeginning(UNBOUNDED.withMaxMessages(40)))) {
            awaitDone(40);
            publish("a", 300, 301);
            Awaitility.await().until(() -> group.metrics().handled() == 41);
        }
        assertThat(seen).contains("a270", "a300", "c90").doesNotContain("a269", "c89");
        assertThat(admin.gaps("g", "t"))
                .hasSize(2)
                .allMatch(gap -> gap.reason().equals("BOUND"))
                .extracting(Gap::to)
                .containsExactlyInAnyOrder(270L, 90L);
        assertThat(admin.find("g", "t").orElseThrow().passedOver()).isEqualTo(360);
    }

    @Test
    void a_small_bound_is_kept_to_the_message() {
        for (String key : List.of("a", "b", "c", "d", "e", "f", "g", "h")) {
            publish(key, 0, 13);
        }
        try (ConsumerGroup<String> group = start(SubscriptionOptions.fromBeginning(UNBOUNDED.withMaxMessages(3)))) {
            awaitDone(3);
            assertThat(group.metrics().handled()).isEqualTo(3);
        }
        assertThat(admin.find("g", "t").orElseThrow().passedOver()).isEqualTo(8 * 13 - 3);
    }

    @Test
    void less_history_than_the_bound_is_handled_whole() {
        publish("a", 0, 50);
        try (ConsumerGroup<String> group = start(SubscriptionOptions.fromBeginning(UNBOUNDED.withMaxMessages(50)))) {
            awaitDone(50);
            assertThat(group.metrics().handled()).isEqualTo(50);
        }
        assertThat(admin.gaps("g", "t")).isEmpty();
    }

    @Test
    void a_group_that_is_stopped_in_its_history_keeps_its_place_and_goes_on_from_there() {
        publish("a", 0, 500);
        database.query("select trunkline.subscribe('g', 't', 'BEGINNING')");
        assertThat(catchUp()).matches(now -> now.state() == CatchUpState.RUNNING && now.total() == 500);
        admin.cancelCatchUp("g", "t");
        assertThat(catchUp().state()).isEqualTo(CatchUpState.CANCELLED);
        try (ConsumerGroup<String> group = start(SubscriptionOptions.fromBeginning(UNBOUNDED))) {
            // Partitions without history go on, this one waits with all that comes.
            publish("a", 500, 501);
            publish("c", 0, 10);
            Awaitility.await().until(() -> group.metrics().handled() == 10);
            assertThat(seen).noneMatch(payload -> payload.startsWith("a"));
            assertThat(catchUp())
                    .matches(now -> now.done() == 0 && now.remaining().isEmpty());
            admin.resumeCatchUp("g", "t");
            Awaitility.await().until(() -> group.metrics().handled() == 511);
            awaitDone(500);
        }
        assertThat(seen.stream().filter(payload -> payload.startsWith("a")))
                .containsExactlyElementsOf(
                        IntStream.range(0, 501).mapToObj(n -> "a" + n).toList());
        assertThat(admin.gaps("g", "t")).isEmpty();
    }

    @Test
    void a_running_group_stops_in_its_history_when_it_is_told_and_another_process_goes_on_where_it_was() {
        publish("a", 0, 2_000);
        // So slow that it is not over before this thread has had its say.
        BackfillConfiguration slow = UNBOUNDED.withMessagesPerSecond(50).withBatchSize(20);
        try (ConsumerGroup<String> group = start(SubscriptionOptions.fromBeginning(slow))) {
            Awaitility.await().until(() -> catchUp().done() > 0);
            assertThat(catchUp()).matches(now -> now.messagesPerSecond() > 0 && now.done() < now.total());
            assertThat(catchUp().remaining()).isPresent();
            admin.cancelCatchUp("g", "t");
            // It has heard of it when nothing is under way and all is recorded.
            Awaitility.await()
                    .during(Duration.ofSeconds(2))
                    .until(() ->
                            catchUp().done() == seen.size() && group.metrics().underWay() == 0);
            assertThat(seen.size()).isLessThan(2_000);
        }
        admin.resumeCatchUp("g", "t");
        try (ConsumerGroup<String> other = start(SubscriptionOptions.fromBeginning(UNBOUNDED))) {
            awaitDone(2_000);
            assertThat(other.metrics().handled()).isPositive();
        }
        assertThat(seen)
                .containsExactlyElementsOf(
                        IntStream.range(0, 2_000).mapToObj(n -> "a" + n).toList());
    }

    @Test
    void a_slow_pace_is_shared_by_all_partitions() {
        for (String key : List.of("a", "b", "c", "d", "e", "f", "g", "h")) {
            publish(key, 0, 200);
        }
        Set<Integer> partitions = ConcurrentHashMap.newKeySet();
        try (ConsumerGroup<String> group = trunkline
                .createConsumerGroup("g", "t", String.class)
                .addConsumer("c", delivery -> partitions.add(delivery.message().partition()))) {
            group.start(SubscriptionOptions.fromBeginning(UNBOUNDED.withMessagesPerSecond(20)));
            Awaitility.await()
                    .atMost(Duration.ofMinutes(4))
                    .until(() -> group.metrics().handled() >= 30);
            assertThat(partitions).hasSize(4);
        }
    }

    @Test
    void the_rest_of_the_history_can_be_skipped_which_is_a_gap() {
        publish("a", 0, 100);
        database.query("select trunkline.subscribe('g', 't', 'BEGINNING')");
        publish("a", 100, 103);
        assertThat(admin.skipCatchUp("g", "t")).isEqualTo(100);
        try (ConsumerGroup<String> group = start(SubscriptionOptions.fromBeginning())) {
            Awaitility.await().until(() -> group.metrics().handled() == 3);
        }
        assertThat(seen).containsExactly("a100", "a101", "a102");
        assertThat(admin.gaps("g", "t")).singleElement().matches(gap -> gap.to() == 100);
    }

    @Test
    void who_comes_back_from_the_dead_has_the_last_part_of_what_it_missed() {
        start(SubscriptionOptions.fromNow()).close();
        publish("a", 0, 100);
        die();
        try (ConsumerGroup<String> group = start(SubscriptionOptions.fromBeginning(UNBOUNDED.withMaxMessages(10)))) {
            Awaitility.await().until(() -> group.metrics().handled() == 10);
            awaitDone(10);
        }
        publish("a", 100, 200);
        die();
        assertThatThrownBy(() -> admin.resurrect("g", "t", 0)).hasMessageContaining("a bound of 0 messages");
        admin.resurrect("g", "t", 5);
        try (ConsumerGroup<String> group = start(SubscriptionOptions.fromNow())) {
            Awaitility.await().until(() -> group.metrics().handled() == 5);
        }
        assertThat(seen).hasSize(15).contains("a99", "a199").doesNotContain("a89", "a194");
        assertThat(admin.find("g", "t").orElseThrow().passedOver()).isEqualTo(185);
    }

    private void die() {
        database.query("select trunkline.watch_groups(clock_timestamp())");
        database.query("select trunkline.watch_groups(clock_timestamp() + interval '1 hour')");
        assertThat(admin.find("g", "t").orElseThrow().status()).isEqualTo(GroupStatus.DEAD);
    }

    @Test
    void a_group_that_is_not_dead_is_not_called_back_and_loses_nothing() {
        database.query("select trunkline.subscribe('g', 't', 'BEGINNING')");
        publish("a", 0, 10);
        admin.pause("g", "t");
        assertThatThrownBy(() -> admin.resurrect("g", "t", false))
                .isInstanceOf(ConsumerGroupException.class)
                .hasMessageContaining("is PAUSED, not dead");
        assertThat(admin.find("g", "t").orElseThrow().pending()).isEqualTo(10);
    }

    @Test
    void what_can_not_be_is_refused() {
        assertThatThrownBy(() -> UNBOUNDED.withMaxMessages(0)).hasMessageContaining("a bound of 0 messages");
        assertThatThrownBy(() -> UNBOUNDED.withBatchSize(-1)).hasMessageContaining("a batch of -1 messages");
        assertThatThrownBy(() -> UNBOUNDED.withMessagesPerSecond(0)).hasMessageContaining("a rate of 0 messages");
        assertThatThrownBy(() -> UNBOUNDED.withTargetLatency(Duration.ZERO)).hasMessageContaining("a latency of PT0S");
        assertThatThrownBy(() -> admin.cancelCatchUp("g", "t")).hasMessageContaining("there is no group \"g\"");
        assertThatThrownBy(() -> admin.catchUp("g", "t")).hasMessageContaining("there is no group \"g\"");
        start(SubscriptionOptions.fromNow()).close();
        assertThat(admin.catchUp("g", "t")).isEmpty();
        for (Runnable call : List.<Runnable>of(
                () -> admin.cancelCatchUp("g", "t"),
                () -> admin.resumeCatchUp("g", "t"),
                () -> admin.skipCatchUp("g", "t"))) {
            assertThatThrownBy(call::run)
                    .isInstanceOf(ConsumerGroupException.class)
                    .hasMessageContaining("has no history to catch up with");
        }
        publish("a", 0, 1);
        database.query("select trunkline.subscribe('h', 't', 'BEGINNING')");
        assertThatThrownBy(() -> admin.resumeCatchUp("h", "t")).hasMessageContaining("is catching up");
        admin.cancelCatchUp("h", "t");
        assertThatThrownBy(() -> admin.cancelCatchUp("h", "t")).hasMessageContaining("has been stopped");
        database.query("select trunkline.subscribe_pull('p', 't', 'BEGINNING')");
        assertThat(admin.catchUp("p", "t").orElseThrow().total()).isOne();
        assertThatThrownBy(() -> admin.cancelCatchUp("p", "t")).hasMessageContaining("is pulled from");
        assertThatThrownBy(() -> database.query("select trunkline.subscribe('i', 't', 'BEGINNING', a_bound => -1)"))
                .hasMessageContaining("a bound of -1 messages");
    }
}
