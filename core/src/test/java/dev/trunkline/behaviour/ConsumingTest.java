package dev.trunkline.behaviour;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.trunkline.ConsumerGroup;
import dev.trunkline.ConsumerGroupException;
import dev.trunkline.Delivery;
import dev.trunkline.Handler;
import dev.trunkline.Message;
import dev.trunkline.Outcome;
import dev.trunkline.RetryPolicy;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.UnknownTopicException;
import dev.trunkline.testing.TestDatabase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** P3 and P5 without faults: every group gets every message, each key in order; and what a group's life allows. */
@Timeout(300)
class ConsumingTest {

    private static final RetryPolicy QUICK = new RetryPolicy(3, Duration.ofMillis(10), Duration.ofMillis(20));

    private final TestDatabase database = TestDatabase.fresh();
    private Trunkline trunkline;

    @BeforeEach
    void open() {
        trunkline = database.options().lease(Duration.ofSeconds(3)).open();
        trunkline.topics().create(TopicConfiguration.pubSub("t").withPartitions(8));
    }

    @AfterEach
    void close() {
        trunkline.close();
    }

    @Test
    void every_group_gets_every_message_once_and_each_key_in_order() {
        List<ConsumerGroup<String>> groups = new ArrayList<>();
        Map<String, List<String>> handled = new HashMap<>();
        for (String name : List.of("email", "analytics")) {
            List<String> seen = handled.computeIfAbsent(name, n -> Collections.synchronizedList(new ArrayList<>()));
            groups.add(trunkline
                    .createConsumerGroup(name, "t", String.class)
                    .addConsumer("a", delivery -> seen.add(delivery.payload()))
                    .addConsumer("b", delivery -> seen.add(delivery.payload()))
                    .start(SubscriptionOptions.fromBeginning()));
        }
        List<String> published = new ArrayList<>();
        for (int batch = 0; batch < 30; batch++) {
            List<Message> messages = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                String text = "k" + i % 10 + ":" + batch * 50 + i;
                published.add(text);
                messages.add(Message.of("t", text).withKey("k" + i % 10));
            }
            trunkline.publisher().publishAll(messages);
        }
        handled.forEach((group, seen) -> {
            await(() -> seen.size() >= published.size());
            assertThat(seen).as(group).containsExactlyInAnyOrderElementsOf(published);
            for (int key = 0; key < 10; key++) {
                String prefix = "k" + key + ":";
                assertThat(seen.stream().filter(text -> text.startsWith(prefix)))
                        .containsExactlyElementsOf(published.stream()
                                .filter(text -> text.startsWith(prefix))
                                .toList());
            }
        });
        groups.forEach(ConsumerGroup::close);
        assertThat(lag("email")).isZero();
        assertThat(lag("analytics")).isZero();
    }

    @Test
    void a_group_goes_on_where_it_was_and_a_new_one_begins_now() {
        List<String> first = new CopyOnWriteArrayList<>();
        trunkline.publisher().publish(Message.of("t", "before"));
        ConsumerGroup<String> group = start("g", first::add, SubscriptionOptions.fromNow());
        trunkline.publisher().publish(Message.of("t", "one"));
        await(() -> first.size() == 1);
        group.close();
        trunkline.publisher().publish(Message.of("t", "two"));
        List<String> second = new CopyOnWriteArrayList<>();
        start("g", second::add, SubscriptionOptions.fromBeginning());
        await(() -> second.size() == 1);
        assertThat(first).containsExactly("one");
        assertThat(second).containsExactly("two");
    }

    @Test
    void a_queue_is_shared_by_all_its_consumers() {
        trunkline.topics().create(TopicConfiguration.queue("q"));
        List<String> seen = new CopyOnWriteArrayList<>();
        // Neither loses what it has because it stands still for a while.
        Duration lease = Duration.ofMinutes(10);
        try (Trunkline one = database.options().lease(lease).open();
                Trunkline other =
                        database.options().lease(lease).backgroundWork(false).open()) {
            for (Trunkline process : List.of(one, other)) {
                process.createConsumer("q", String.class)
                        .addConsumer("worker", delivery -> seen.add(delivery.payload()))
                        .start(SubscriptionOptions.fromBeginning());
            }
            for (int i = 0; i < 200; i++) {
                trunkline.publisher().publish(Message.of("q", "job " + i).withKey("k" + i));
            }
            await(() -> seen.size() >= 200);
        }
        assertThat(seen).doesNotHaveDuplicates().hasSize(200);
        assertThatThrownBy(() -> trunkline
                        .createConsumerGroup("named", "q", String.class)
                        .addConsumer("a", delivery -> {})
                        .start(SubscriptionOptions.fromNow()))
                .isInstanceOf(ConsumerGroupException.class)
                .hasMessageContaining("queue");
    }

    @Test
    void what_another_process_publishes_is_handled_long_before_the_next_poll() {
        List<String> seen = new CopyOnWriteArrayList<>();
        try (Trunkline consumer = database.options()
                .pollInterval(Duration.ofMinutes(10))
                .backgroundWork(false)
                .open()) {
            consumer.createConsumerGroup("g", "t", String.class)
                    .addConsumer("a", delivery -> seen.add(delivery.payload()))
                    .start(SubscriptionOptions.fromBeginning());
            await(() -> database.number("select count(*) from trunkline.holder where session is not null") == 8);
            for (int i = 0; i < 5; i++) {
                int expected = i + 1;
                trunkline.publisher().publish(Message.of("t", "m" + i));
                await(() -> seen.size() == expected);
            }
            database.query("select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen %'");
            trunkline.publisher().publish(Message.of("t", "after the line was cut"));
            await(() -> seen.size() == 6);
        }
    }

    @Test
    void a_slow_key_holds_up_nobody_else_and_keeps_its_own_order() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        List<String> seen = new CopyOnWriteArrayList<>();
        start(
                "g",
                text -> {
                    if (text.equals("slow 0")) {
                        release.await();
                    }
                    seen.add(text);
                },
                SubscriptionOptions.fromBeginning().withWindow(200));
        List<Message> messages = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            messages.add(Message.of("t", "slow " + i).withKey("slow"));
            for (int k = 0; k < 10; k++) {
                messages.add(Message.of("t", "quick " + k + "/" + i).withKey("quick" + k));
            }
        }
        trunkline.publisher().publishAll(messages);
        await(() -> seen.size() == 400);
        assertThat(seen).noneMatch(text -> text.startsWith("slow"));
        release.countDown();
        await(() -> seen.size() == 440);
        assertThat(seen.subList(400, 440))
                .containsExactlyElementsOf(messages.stream()
                        .map(m -> m.payload().toString())
                        .filter(t -> t.startsWith("slow"))
                        .toList());
    }

    @Test
    void a_failed_message_is_tried_again_before_the_next_of_its_key() {
        AtomicInteger tries = new AtomicInteger();
        List<String> seen = new CopyOnWriteArrayList<>();
        List<Integer> attempts = new CopyOnWriteArrayList<>();
        ConsumerGroup<String> group = trunkline.createConsumerGroup("g", "t", String.class);
        group.addConsumer("a", delivery -> {
            attempts.add(delivery.attempt());
            if (delivery.payload().equals("m0") && tries.incrementAndGet() < 3) {
                throw new IllegalStateException("not yet");
            }
            seen.add(delivery.payload());
        });
        group.start(SubscriptionOptions.fromBeginning().withRetry(QUICK));
        trunkline
                .publisher()
                .publishAll(List.of(
                        Message.of("t", "m0").withKey("k"),
                        Message.of("t", "m1").withKey("k")));
        await(() -> seen.size() == 2);
        assertThat(seen).containsExactly("m0", "m1");
        assertThat(attempts).containsExactly(1, 2, 3, 1);
        group.close();
        assertThat(database.number("select count(*) from trunkline.attempt")).isZero();
        assertThat(database.number("select count(*) from trunkline.dead_letter"))
                .isZero();
    }

    @Test
    void what_fails_for_good_is_a_dead_letter_with_its_error_and_its_key_goes_on_if_so_chosen() {
        List<String> seen = new CopyOnWriteArrayList<>();
        ConsumerGroup<String> group = start(
                "g",
                text -> {
                    switch (text) {
                        case "throws" -> throw new java.io.IOException("disk full");
                        case "overflows" -> overflow(0);
                        default -> seen.add(text);
                    }
                },
                SubscriptionOptions.fromBeginning().withRetry(QUICK.skipping()));
        trunkline
                .publisher()
                .publishAll(List.of(
                        Message.of("t", "throws").withKey("k").withHeader("h", "v"),
                        Message.of("t", "overflows").withKey("k"),
                        Message.of("t", "good").withKey("k")));
        await(() -> seen.contains("good"));
        group.close();
        assertThat(
                        database.query(
                                "select convert_from(payload, 'UTF8') || ' ' || attempts || ' ' || error from trunkline.dead_letter order by id"))
                .containsExactly("throws 3 java.io.IOException: disk full", "overflows 3 java.lang.StackOverflowError");
        assertThat(
                        database.query(
                                "select headers from trunkline.dead_letter where error like '%disk%' and stack like '%ConsumingTest%'"))
                .containsExactly("{h,v}");
        assertThat(lag("g")).isZero();
    }

    @Test
    void a_handler_may_decide_and_null_is_a_failure() {
        List<Integer> later = new CopyOnWriteArrayList<>();
        ConsumerGroup<String> group = trunkline.createConsumerGroup("g", "t", String.class);
        group.addConsumer("a", Handler.deciding(delivery -> switch (delivery.payload()) {
            case "reject" -> Outcome.reject("no customer");
            case "later" -> {
                later.add(delivery.attempt());
                yield delivery.attempt() < 3 ? Outcome.retryAfter(Duration.ofMillis(5)) : Outcome.done();
            }
            case "null" -> null;
            default -> Outcome.done();
        }));
        group.start(SubscriptionOptions.fromBeginning().withRetry(QUICK));
        for (String text : List.of("reject", "later", "null")) {
            trunkline.publisher().publish(Message.of("t", text).withKey(text));
        }
        await(() -> later.size() == 3 && database.number("select count(*) from trunkline.dead_letter") == 2);
        assertThat(database.query("select error from trunkline.dead_letter order by error"))
                .satisfiesExactly(
                        error -> assertThat(error).contains("no customer"),
                        error -> assertThat(error).contains("null"));
    }

    @Test
    void what_can_not_be_decoded_is_a_dead_letter_at_once() {
        ConsumerGroup<Integer> group = trunkline.createConsumerGroup("g", "t", Integer.class);
        group.addConsumer("a", delivery -> {});
        group.start(SubscriptionOptions.fromBeginning());
        trunkline.publisher().publish(Message.of("t", "no number"));
        await(() -> database.number("select count(*) from trunkline.dead_letter where attempts = 1") == 1);
    }

    @Test
    void a_handler_that_hangs_is_interrupted_and_its_message_has_failed() {
        AtomicInteger tries = new AtomicInteger();
        start(
                "g",
                text -> {
                    if (tries.incrementAndGet() == 1) {
                        Thread.sleep(Duration.ofMinutes(10));
                    }
                },
                SubscriptionOptions.fromBeginning().withRetry(QUICK).withHandlerTimeout(Duration.ofMillis(100)));
        trunkline.publisher().publish(Message.of("t", "m"));
        await(() -> tries.get() >= 2);
    }

    @Test
    void the_group_filter_makes_done_and_consumer_filters_route() {
        List<String> even = new CopyOnWriteArrayList<>();
        List<String> odd = new CopyOnWriteArrayList<>();
        ConsumerGroup<String> group = trunkline
                .createConsumerGroup("g", "t", String.class)
                .filter(message -> !message.text().equals("skip"))
                .addConsumer(
                        "even",
                        delivery -> even.add(delivery.payload()),
                        m -> m.text().length() % 2 == 0)
                .addConsumer(
                        "odd",
                        delivery -> odd.add(delivery.payload()),
                        m -> m.text().length() % 2 == 1)
                .start(SubscriptionOptions.fromBeginning());
        for (String text : List.of("a", "bb", "skip", "ccc")) {
            trunkline.publisher().publish(Message.of("t", text));
        }
        await(() -> even.size() + odd.size() == 3);
        group.close();
        assertThat(even).containsExactly("bb");
        assertThat(odd).containsExactlyInAnyOrder("a", "ccc");
        assertThat(lag("g")).isZero();
    }

    @Test
    void pause_keeps_the_place_resume_goes_on_and_cancel_is_final() {
        List<String> seen = new CopyOnWriteArrayList<>();
        ConsumerGroup<String> group = start("g", seen::add, SubscriptionOptions.fromBeginning());
        trunkline.publisher().publish(Message.of("t", "one"));
        await(() -> seen.size() == 1);
        group.pause();
        assertThatThrownBy(group::pause).hasMessageContaining("PAUSED");
        await(() -> database.number("select count(*) from trunkline.subscription where status = 'PAUSED'") == 1);
        group.resume();
        trunkline.publisher().publish(Message.of("t", "two"));
        await(() -> seen.size() == 2);
        group.cancel();
        assertThatThrownBy(group::pause).isInstanceOf(ConsumerGroupException.class);
        List<String> anew = new CopyOnWriteArrayList<>();
        start("g", anew::add, SubscriptionOptions.fromBeginning());
        await(() -> anew.size() == 2);
    }

    /** The enemy: a worker has taken many messages of a key at once, and goes on with them. */
    @Test
    void a_handler_that_runs_when_its_group_is_paused_is_the_last_of_its_key() throws InterruptedException {
        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        List<String> seen = new CopyOnWriteArrayList<>();
        for (int i = 0; i < 5; i++) {
            trunkline.publisher().publish(Message.of("t", "m" + i).withKey("k"));
        }
        ConsumerGroup<String> group = trunkline
                .createConsumerGroup("g", "t", String.class)
                .addConsumer("a", delivery -> {
                    seen.add(delivery.payload());
                    running.countDown();
                    release.await();
                })
                .start(SubscriptionOptions.fromBeginning());
        running.await();
        group.pause();
        awaitBeats(); // by then it has looked
        release.countDown();
        awaitBeats();
        assertThat(seen).containsExactly("m0");
        group.resume();
        await(() -> seen.size() == 5);
        assertThat(seen).containsExactly("m0", "m1", "m2", "m3", "m4");
    }

    private void awaitBeats() {
        String beats = "select sum(beat) from trunkline.session";
        long before = database.number(beats);
        await(() -> database.number(beats) >= before + 4);
    }

    @Test
    void what_a_group_may_not_do_is_refused_with_the_reason() {
        ConsumerGroup<String> group = trunkline.createConsumerGroup("g", "t", String.class);
        assertThatThrownBy(() -> group.start(SubscriptionOptions.fromNow())).hasMessageContaining("no consumer");
        group.addConsumer("a", delivery -> {});
        assertThatThrownBy(() -> group.addConsumer("a", delivery -> {})).hasMessageContaining("\"a\"");
        assertThatThrownBy(() -> group.removeConsumer("b")).hasMessageContaining("no consumer \"b\"");
        assertThatThrownBy(group::pause).hasMessageContaining("not started");
        group.start(SubscriptionOptions.fromNow());
        assertThatThrownBy(() -> group.start(SubscriptionOptions.fromNow())).hasMessageContaining("started already");
        assertThatThrownBy(() -> group.removeConsumer("a")).hasMessageContaining("last consumer");
        assertThatThrownBy(() -> group.filter(message -> true)).hasMessageContaining("before");
        group.addConsumer("b", delivery -> {}).removeConsumer("a");
        group.close();
        assertThatThrownBy(() -> group.addConsumer("c", delivery -> {})).hasMessageContaining("closed");
        assertThatThrownBy(() -> trunkline
                        .createConsumerGroup("g", "nowhere", String.class)
                        .addConsumer("a", delivery -> {})
                        .start(SubscriptionOptions.fromNow()))
                .isInstanceOf(UnknownTopicException.class);
        assertThatThrownBy(() -> SubscriptionOptions.fromNow().withConcurrency(0))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new RetryPolicy(0, Duration.ZERO, Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class);
    }

    /** What a test does with a text. */
    private interface Effect {
        void of(String text) throws Exception;
    }

    private ConsumerGroup<String> start(String name, Effect effect, SubscriptionOptions options) {
        return trunkline
                .createConsumerGroup(name, "t", String.class)
                .addConsumer("a", (Delivery<String> delivery) -> effect.of(delivery.payload()))
                .start(options);
    }

    private static int overflow(int depth) {
        return depth < 0 ? 0 : overflow(depth + 1) + 1;
    }

    private long lag(String group) {
        return database.number("select sum(lag) from trunkline.lag('" + group + "', 't')");
    }

    private static void await(java.util.concurrent.Callable<Boolean> condition) {
        Awaitility.await()
                .atMost(Duration.ofSeconds(60))
                .pollInterval(Duration.ofMillis(20))
                .until(condition);
    }
}
