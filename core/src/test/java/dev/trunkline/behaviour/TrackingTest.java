package dev.trunkline.behaviour;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.trunkline.Batch;
import dev.trunkline.CompletionTrackingMode;
import dev.trunkline.ConsumerGroup;
import dev.trunkline.ConsumerGroupAdmin;
import dev.trunkline.ConsumerGroupAdmin.Handled;
import dev.trunkline.ConsumerGroupAdmin.HandledState;
import dev.trunkline.ConsumerGroupException;
import dev.trunkline.DeadLetter;
import dev.trunkline.Message;
import dev.trunkline.PullConsumer;
import dev.trunkline.PullOptions;
import dev.trunkline.Receipt;
import dev.trunkline.RetryPolicy;
import dev.trunkline.Start;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.UnknownTopicException;
import dev.trunkline.testing.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Who has handled a message, when, and who is missing: in both modes, and while they are switched. */
@Timeout(300)
class TrackingTest {

    private static final RetryPolicy ONCE =
            new RetryPolicy(1, Duration.ofMillis(1), Duration.ofMillis(1), RetryPolicy.Exhausted.PARK_KEY);

    private final TestDatabase database = TestDatabase.fresh();
    private final Trunkline trunkline = database.open();
    private final ConsumerGroupAdmin admin = trunkline.admin();

    @AfterEach
    void close() {
        trunkline.close();
    }

    private void create(CompletionTrackingMode tracking) {
        trunkline
                .topics()
                .create(TopicConfiguration.pubSub("t").withPartitions(2).withTracking(tracking));
    }

    private void track(CompletionTrackingMode tracking) {
        trunkline.topics().alter(trunkline.topics().find("t").orElseThrow().withTracking(tracking));
    }

    private Receipt publish(String key) {
        return trunkline.publisher().publish(Message.of("t", key).withKey(key));
    }

    /** Progress goes on to the other slot, and the one that was left is emptied: later, where its group is just writing. */
    private void fold() {
        Awaitility.await().until(() -> {
            database.queryWhenUnlocked("select trunkline.rotate_progress(interval '-1 day')");
            return database.number("select count(*) from trunkline.progress") == 0;
        });
    }

    private ConsumerGroup<String> start(String group) {
        return trunkline
                .createConsumerGroup(group, "t", String.class)
                .addConsumer("c", delivery -> {})
                .start(SubscriptionOptions.fromBeginning());
    }

    private Map<String, Handled> audit(Receipt message) {
        return admin.audit("t", message.id()).stream().collect(Collectors.toMap(Handled::group, handled -> handled));
    }

    private static HandledState state(Map<String, Handled> audit, String group) {
        Handled handled = audit.get(group);
        assertThat(handled).as(group).isNotNull();
        return handled.state();
    }

    private void awaitPending(String group, long pending) {
        Awaitility.await().until(() -> admin.find(group, "t").orElseThrow().pending() == pending);
    }

    @Test
    void it_is_known_who_has_handled_a_message_when_and_where_and_who_is_missing() {
        create(CompletionTrackingMode.REFERENCE_COUNTING);
        database.query("select trunkline.subscribe('absent', 't', 'BEGINNING')");
        Instant before = Instant.now().minusSeconds(1);
        Receipt first = publish("a");
        start("late").close();
        start("prompt").close();
        try (ConsumerGroup<String> prompt = start("prompt")) {
            awaitPending("prompt", 0);
            assertThat(prompt.name()).isEqualTo("prompt");
        }
        Receipt second = publish("a");
        for (int i = 0; i < 2; i++) { // at first from the records, then from what they were folded to
            Map<String, Handled> audit = audit(first);
            assertThat(state(audit, "absent")).isEqualTo(HandledState.NOT_YET);
            assertThat(audit.get("absent").missing()).isTrue();
            assertThat(audit.get("prompt").state()).isEqualTo(HandledState.DONE);
            assertThat(audit.get("prompt").recordedAt().orElseThrow()).isAfter(before);
            assertThat(audit.get("prompt").session().orElseThrow())
                    .startsWith(ProcessHandle.current().pid() + "@");
            assertThat(audit.get("prompt").epoch().orElseThrow()).isPositive();
            assertThat(audit(second).values()).allMatch(Handled::missing);
            fold();
        }
    }

    @Test
    void what_else_can_become_of_a_message_is_known_too() {
        create(CompletionTrackingMode.REFERENCE_COUNTING);
        Receipt before = publish("a");
        ConsumerGroup<String> group = trunkline
                .createConsumerGroup("g", "t", String.class)
                .filter(message -> !"filtered".equals(message.key()))
                .addConsumer("c", delivery -> {
                    if (delivery.payload().startsWith("bad")) {
                        throw new IllegalStateException("bad");
                    }
                })
                .start(SubscriptionOptions.from(Start.now()).withRetry(ONCE));
        Receipt done = publish("good");
        Receipt filtered = publish("filtered");
        Receipt bad = publish("bad");
        Awaitility.await().until(() -> group.deadLetters().list(0, 10).size() == 1);
        Receipt behind = publish("bad");
        Awaitility.await().until(() -> admin.find("g", "t").orElseThrow().parked() == 1);
        awaitPending("g", 0);
        for (int i = 0; i < 2; i++) {
            assertThat(state(audit(before), "g")).isEqualTo(HandledState.BEFORE_START);
            assertThat(state(audit(done), "g")).isEqualTo(HandledState.DONE);
            assertThat(state(audit(filtered), "g")).isEqualTo(HandledState.REJECTED);
            assertThat(audit(bad).get("g"))
                    .matches(handled -> handled.state() == HandledState.DEAD_LETTER && handled.missing());
            assertThat(audit(behind).get("g"))
                    .matches(handled -> handled.state() == HandledState.PARKED && handled.missing());
            fold();
        }
        for (DeadLetter letter : group.deadLetters().list(0, 10)) {
            group.deadLetters().discard(List.of(letter.id()));
        }
        // The one behind it is tried now, and is as bad.
        Awaitility.await().until(() -> state(audit(behind), "g") == HandledState.DEAD_LETTER);
        assertThat(state(audit(bad), "g")).isEqualTo(HandledState.DISCARDED);
        group.close();
        Receipt never = publish("good");
        admin.forceComplete("g", "t");
        assertThat(state(audit(never), "g")).isEqualTo(HandledState.GAP);
    }

    @Test
    void a_parked_message_is_done_when_it_was_handled_and_not_when_it_was_parked() throws InterruptedException {
        create(CompletionTrackingMode.REFERENCE_COUNTING);
        AtomicBoolean broken = new AtomicBoolean(true);
        try (ConsumerGroup<String> group = trunkline
                .createConsumerGroup("g", "t", String.class)
                .addConsumer("c", delivery -> {
                    if (broken.get()) {
                        throw new IllegalStateException("broken");
                    }
                })
                .start(SubscriptionOptions.fromNow().withRetry(ONCE))) {
            publish("a");
            Awaitility.await().until(() -> group.deadLetters().list(0, 10).size() == 1);
            Receipt behind = publish("a");
            Awaitility.await().until(() -> admin.find("g", "t").orElseThrow().parked() == 1);
            awaitPending("g", 0);
            fold();
            Instant parked = database.query("select parked_at::text from trunkline.parked").stream()
                    .map(text -> java.time.OffsetDateTime.parse(text.replace(' ', 'T') + ":00"))
                    .findFirst()
                    .orElseThrow()
                    .toInstant();
            broken.set(false);
            group.deadLetters().redriveAll();
            assertThat(group.await(behind, Duration.ofSeconds(60))).isTrue();
            assertThat(audit(behind).get("g").recordedAt().orElseThrow()).isAfter(parked);
        }
    }

    @Test
    void who_pulls_leaves_a_trail_without_a_session() {
        create(CompletionTrackingMode.REFERENCE_COUNTING);
        PullConsumer<String> consumer = trunkline.pull(
                "g", "t", String.class, PullOptions.fromBeginning().withKeys(Set.of("a")));
        Receipt wanted = publish("a");
        Receipt unwanted = publish("b");
        for (int i = 0; i < 2; i++) {
            consumer.pop(10, Duration.ofSeconds(30)).map(Batch::token).ifPresent(consumer::ack);
        }
        for (int i = 0; i < 2; i++) {
            assertThat(audit(wanted).get("g"))
                    .matches(handled -> handled.state() == HandledState.DONE
                            && handled.recordedAt().isPresent())
                    .matches(handled -> handled.session().isEmpty());
            assertThat(state(audit(unwanted), "g")).isEqualTo(HandledState.REJECTED);
            fold();
        }
    }

    @Test
    void without_it_only_the_outcome_is_remembered() {
        create(CompletionTrackingMode.OFFSET_WATERMARK);
        Receipt message = publish("a");
        try (ConsumerGroup<String> group = start("g")) {
            Awaitility.await().until(() -> group.metrics().handled() == 1);
        }
        assertThat(audit(message).get("g").recordedAt()).isPresent();
        fold();
        assertThat(audit(message).get("g"))
                .matches(handled -> handled.state() == HandledState.DONE
                        && handled.recordedAt().isEmpty());
        assertThat(database.number("select count(*) from trunkline.trail")).isZero();
    }

    @Test
    void the_trail_of_what_is_dropped_is_dropped() {
        create(CompletionTrackingMode.REFERENCE_COUNTING);
        publish("a");
        try (ConsumerGroup<String> group = start("g")) {
            Awaitility.await().until(() -> group.metrics().handled() == 1);
        }
        fold();
        assertThat(database.number("select count(*) from trunkline.trail")).isOne();
        database.query("select trunkline.roll_segment(1)");
        database.query("select trunkline.trim(1, clock_timestamp() + interval '30 days')");
        assertThat(database.number("select count(*) from trunkline.trail")).isZero();
    }

    @Test
    void modes_are_switched_while_messages_are_published_and_consumed_and_none_is_lost_or_forgotten()
            throws InterruptedException {
        create(CompletionTrackingMode.OFFSET_WATERMARK);
        Map<Long, Integer> handled = new ConcurrentHashMap<>();
        AtomicBoolean over = new AtomicBoolean();
        List<Receipt> whileTracked = new ArrayList<>();
        ConsumerGroup<String> group = trunkline
                .createConsumerGroup("g", "t", String.class)
                .addConsumer("c", delivery -> handled.merge(delivery.message().id(), 1, Integer::sum))
                .start(SubscriptionOptions.fromBeginning());
        List<Receipt> all = new java.util.concurrent.CopyOnWriteArrayList<>();
        Thread publisher = Thread.ofVirtual().start(() -> {
            for (int n = 0; !over.get(); n++) {
                all.add(publish("k" + n % 7));
            }
        });
        for (int round = 0; round < 3; round++) {
            track(CompletionTrackingMode.REFERENCE_COUNTING);
            int from = all.size();
            Awaitility.await().until(() -> all.size() > from + 200);
            // The first of them may have been published before the switch, and added after it.
            List<Receipt> now = List.copyOf(all).subList(from + 1, from + 200);
            for (Receipt receipt : now) {
                assertThat(group.await(receipt, Duration.ofSeconds(60))).isTrue();
            }
            whileTracked.addAll(now);
            if (round == 0) { // else the switch itself must remember what is not folded yet
                database.queryWhenUnlocked("select trunkline.rotate_progress(interval '0')");
            }
            track(CompletionTrackingMode.OFFSET_WATERMARK);
            int since = all.size();
            Awaitility.await().until(() -> all.size() > since + 100);
            database.queryWhenUnlocked(
                    "select trunkline.rotate_progress(interval '0', clock_timestamp() + interval '1 hour')");
        }
        over.set(true);
        publisher.join();
        awaitPending("g", 0);
        group.close();
        assertThat(handled).hasSize(all.size());
        assertThat(handled.values()).containsOnly(1);
        while (database.number("select count(*) from trunkline.progress") > 0) {
            database.queryWhenUnlocked(
                    "select trunkline.rotate_progress(interval '0', clock_timestamp() + interval '1 hour')");
        }
        for (int i = 0; i < whileTracked.size(); i += 13) {
            assertThat(audit(whileTracked.get(i)).get("g"))
                    .matches(known -> known.state() == HandledState.DONE
                            && known.recordedAt().isPresent());
        }
        // Each message once: nothing is traced twice, and nothing is in between.
        assertThat(database.query("select count(*) from trunkline.trail a join trunkline.trail b"
                        + " on a.strand = b.strand and a.ctid < b.ctid and a.offsets && b.offsets"))
                .containsExactly("0");
    }

    @Test
    void what_can_not_be_is_refused() {
        create(CompletionTrackingMode.OFFSET_WATERMARK);
        assertThatThrownBy(() -> admin.audit("u", 1)).isInstanceOf(UnknownTopicException.class);
        assertThatThrownBy(() -> admin.audit("t", 1))
                .isInstanceOf(ConsumerGroupException.class)
                .hasMessageContaining("message 1 is not in the log of topic \"t\"");
        assertThatThrownBy(() -> database.query("select trunkline.alter_topic('t', tracking => 'BITMAP')"))
                .hasMessageContaining("can not be altered");
    }

    @Test
    void who_pulls_leaves_a_line_for_a_minute_and_not_for_each_batch() {
        create(CompletionTrackingMode.REFERENCE_COUNTING);
        PullConsumer<String> consumer = trunkline.pull("g", "t", String.class, PullOptions.fromBeginning());
        for (int i = 0; i < 30; i++) {
            publish("a");
            consumer.ack(consumer.pop(1, Duration.ofSeconds(30)).orElseThrow().token());
        }
        fold();
        assertThat(database.number("select count(*) from trunkline.trail"))
                .isEqualTo(database.number(
                        "select count(distinct date_trunc('minute', recorded_at)) from trunkline.trail"));
    }

    @Test
    void what_was_discarded_stays_discarded_when_what_was_done_after_it_is_folded() {
        create(CompletionTrackingMode.REFERENCE_COUNTING);
        Receipt bad = publish("bad");
        try (ConsumerGroup<String> group = trunkline
                .createConsumerGroup("g", "t", String.class)
                .addConsumer("c", delivery -> {
                    if (delivery.message().id() == bad.id()) {
                        throw new IllegalStateException("bad");
                    }
                })
                .start(SubscriptionOptions.fromBeginning().withRetry(ONCE))) {
            Awaitility.await().until(() -> group.deadLetters().discardAll() == 1);
            Awaitility.await().until(() -> state(audit(bad), "g") == HandledState.DISCARDED);
            publish("bad");
            awaitPending("g", 0);
        }
        fold();
        assertThat(state(audit(bad), "g")).isEqualTo(HandledState.DISCARDED);
    }

    @Test
    void who_has_handled_a_message_is_known_also_if_what_comes_after_it_is_passed_over() {
        create(CompletionTrackingMode.REFERENCE_COUNTING);
        Receipt done = publish("a");
        try (ConsumerGroup<String> group = start("g")) {
            awaitPending("g", 0);
            assertThat(group.metrics().handled()).isOne();
        }
        Receipt passed = publish("a");
        admin.forceComplete("g", "t");
        fold();
        assertThat(state(audit(passed), "g")).isEqualTo(HandledState.GAP);
        assertThat(audit(done).values())
                .singleElement()
                .matches(handled -> handled.state() == HandledState.DONE
                        && handled.recordedAt().isPresent()
                        && handled.session().isPresent());
        assertThat(database.query("select outcome, offsets from trunkline.trail"))
                .containsExactly("DONE|{[0,1)}");
    }

    @Test
    void who_is_long_about_another_topic_does_not_keep_progress_from_being_folded() throws SQLException {
        create(CompletionTrackingMode.REFERENCE_COUNTING);
        trunkline.topics().create(TopicConfiguration.pubSub("other").withPartitions(1));
        publish("a");
        trunkline.publisher().publish(Message.of("other", "m"));
        PullConsumer<String> tracked = trunkline.pull("g", "t", String.class, PullOptions.fromBeginning());
        tracked.ack(tracked.pop(1, Duration.ofSeconds(30)).orElseThrow().token());
        PullConsumer<String> other = trunkline.pull("g", "other", String.class, PullOptions.fromBeginning());
        Batch<String> batch = other.pop(1, Duration.ofSeconds(30)).orElseThrow();
        try (Connection connection = database.connect()) {
            connection.setAutoCommit(false);
            other.ack(connection, batch.token());
            assertThat(database.query("select trunkline.rotate_progress(interval '0')"))
                    .containsExactly("t");
            connection.commit();
        }
        assertThat(database.number("select count(*) from trunkline.trail")).isOne();
    }
}
