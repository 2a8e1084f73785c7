package dev.trunkline.behaviour;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.ConsumerGroup;
import dev.trunkline.Message;
import dev.trunkline.RetryPolicy;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.testing.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages over which processes may have died, where one of them must be alone in its process. */
@Timeout(300)
class SuspectsTest {

    private static final String LONG = "long";

    private final TestDatabase database = TestDatabase.fresh();
    private final Trunkline trunkline = database.open();
    private final List<String> seen = new CopyOnWriteArrayList<>();
    private final CountDownLatch began = new CountDownLatch(1);
    private final CountDownLatch mayEnd = new CountDownLatch(1);
    private final Semaphore others = new Semaphore(0);

    @BeforeEach
    void create() {
        for (String topic : List.of("t", "other")) {
            trunkline.topics().create(TopicConfiguration.pubSub(topic).withPartitions(1));
        }
        database.query("select trunkline.subscribe('g', 't', 'BEGINNING')");
    }

    @AfterEach
    void close() {
        mayEnd.countDown();
        trunkline.close();
    }

    private void publish(String topic, String text) {
        trunkline.publisher().publish(Message.of(topic, text).withKey(text));
    }

    private ConsumerGroup<String> start(int concurrency) {
        return start(concurrency, 2_000);
    }

    private ConsumerGroup<String> start(int concurrency, int window) {
        return trunkline
                .createConsumerGroup("g", "t", String.class)
                .addConsumer("c", delivery -> {
                    seen.add(delivery.payload());
                    waitIfLong(delivery.payload());
                })
                .start(SubscriptionOptions.fromBeginning()
                        .withConcurrency(concurrency)
                        .withWindow(window));
    }

    private void waitIfLong(String payload) throws InterruptedException {
        if (payload.equals(LONG)) {
            began.countDown();
            mayEnd.await();
        }
    }

    /** Another group of the process, with a handler that runs until it may end. */
    private void startOther() throws InterruptedException {
        trunkline
                .createConsumerGroup("other", "other", String.class)
                .addConsumer("c", delivery -> {
                    waitIfLong(delivery.payload());
                    others.release();
                })
                .start(SubscriptionOptions.fromBeginning());
        publish("other", LONG);
        began.await();
    }

    private boolean otherIsHandled() throws InterruptedException {
        publish("other", "short");
        return others.tryAcquire(500, TimeUnit.MILLISECONDS);
    }

    /** A process has died with a message under way that had been noted because one had died before. */
    private void dieOver(long offset) {
        database.query(
                "insert into trunkline.suspect (subscription, strand, \"offset\", session, alone)"
                        + " select id, 0, ?, 1, false from trunkline.subscription where group_name = 'g'",
                offset);
    }

    /** The process that held the group's partition has died. */
    private void orphan() {
        database.execute("insert into trunkline.session (name, lease, ended_at) values ('dead', '3 s', now());"
                + "update trunkline.holder set session = (select id from trunkline.session where name = 'dead')"
                + " where subscription = (select id from trunkline.subscription where group_name = 'g')");
    }

    /** As soon as one has asked to be alone, nothing else is begun. */
    private void awaitClaim() {
        Awaitility.await().timeout(Duration.ofSeconds(60)).until(() -> !otherIsHandled());
    }

    private static void awaitUnderWay(ConsumerGroup<?> group, int count) {
        Awaitility.await().until(() -> group.metrics().underWay() == count);
    }

    /** The enemy: others of its group become suspect while it waits, are noted, and may not begin before it. */
    @Test
    void one_that_waits_to_be_alone_and_others_that_wait_for_it_are_all_handled() throws InterruptedException {
        startOther();
        orphan();
        dieOver(0);
        for (String text : List.of("killer?", "innocent 1", "innocent 2")) {
            publish("t", text);
        }
        ConsumerGroup<String> group = start(1, 2); // reads one at a time
        awaitClaim();
        awaitUnderWay(group, 2);
        mayEnd.countDown();
        Awaitility.await().until(() -> seen.size() == 3);
    }

    /** The enemy: many stand in line before it that may not begin before it has ended. */
    @Test
    void one_that_must_be_alone_goes_before_all_that_are_ready() throws InterruptedException {
        dieOver(1);
        ConsumerGroup<String> group = start(1);
        publish("t", LONG);
        began.await();
        publish("t", "killer?");
        int innocents = 500;
        for (int i = 0; i < innocents; i++) {
            publish("t", "innocent " + i);
        }
        awaitUnderWay(group, innocents + 2);
        assertThat(seen).containsExactly(LONG);
        mayEnd.countDown();
        Awaitility.await().until(() -> seen.size() == innocents + 2);
    }

    /** The enemy: the whole process would wait until somebody resumes that group. */
    @Test
    void a_group_that_is_paused_lets_no_other_wait_for_the_one_that_wants_to_be_alone() throws InterruptedException {
        startOther();
        dieOver(0);
        publish("t", "killer?");
        ConsumerGroup<String> group = start(1);
        awaitClaim();
        group.pause();
        Awaitility.await().timeout(Duration.ofSeconds(60)).until(this::otherIsHandled);
        group.resume();
        mayEnd.countDown();
        Awaitility.await().until(() -> seen.size() == 1);
    }

    /** The enemy: nobody is left who would ever be alone, and all others wait for it. */
    @Test
    void a_group_that_is_closed_lets_no_other_wait_for_the_one_that_wants_to_be_alone() throws InterruptedException {
        startOther();
        dieOver(0);
        publish("t", "killer?");
        ConsumerGroup<String> group = start(1);
        awaitClaim();
        group.close();
        Awaitility.await().timeout(Duration.ofSeconds(60)).until(this::otherIsHandled);
        assertThat(seen).isEmpty();
    }

    /** The enemy: the partition is kept for a handler that does not end, and with it all that waits in it. */
    @Test
    void a_group_that_is_closed_though_a_handler_runs_lets_no_other_wait_for_the_one_that_wants_to_be_alone()
            throws InterruptedException {
        startOther();
        dieOver(1);
        publish("t", "endless");
        ConsumerGroup<String> group = trunkline
                .createConsumerGroup("g", "t", String.class)
                .addConsumer("c", delivery -> {
                    seen.add(delivery.payload());
                    HangingHandlersTest.awaitWhateverHappens(mayEnd);
                })
                .start(SubscriptionOptions.fromBeginning());
        Awaitility.await().until(() -> seen.size() == 1);
        publish("t", "killer?");
        awaitClaim();
        group.close(Duration.ZERO);
        Awaitility.await().timeout(Duration.ofSeconds(60)).until(this::otherIsHandled);
        assertThat(seen).containsExactly("endless");
    }

    /** The enemy: it is given up, never returns, and still counts as the one that all others wait for. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void one_whose_handler_hangs_lets_no_other_wait_once_it_is_given_up(boolean alone) throws InterruptedException {
        orphan();
        if (alone) {
            dieOver(0);
        }
        publish("t", LONG);
        for (int i = 0; i < 200; i++) {
            publish("t", "innocent " + i);
        }
        trunkline
                .createConsumerGroup("g", "t", String.class)
                .addConsumer("c", delivery -> {
                    seen.add(delivery.payload());
                    if (delivery.payload().equals(LONG)) {
                        began.countDown();
                        HangingHandlersTest.awaitWhateverHappens(mayEnd);
                    }
                })
                .start(SubscriptionOptions.fromBeginning()
                        .withRetry(new RetryPolicy(1, Duration.ZERO, Duration.ZERO))
                        .withHandlerTimeout(Duration.ofSeconds(1)));
        began.await();
        Awaitility.await().timeout(Duration.ofSeconds(60)).until(() -> seen.size() == 201);
        startOther();
        Awaitility.await().timeout(Duration.ofSeconds(60)).until(this::otherIsHandled);
    }

    private List<String> holder() {
        return database.query(
                "select h.session from trunkline.holder h join trunkline.subscription s on s.id = h.subscription"
                        + " where s.group_name = 'g'");
    }

    @Test
    void an_orphan_stays_one_until_all_that_was_suspect_is_handled() throws InterruptedException {
        startOther();
        orphan();
        dieOver(1);
        publish("t", "innocent");
        publish("t", "killer?");
        ConsumerGroup<String> group = start(1);
        Awaitility.await().until(() -> seen.contains("innocent"));
        awaitClaim();
        group.close();
        assertThat(seen).containsExactly("innocent");
        assertThat(holder()).containsExactly("0");
        mayEnd.countDown();
        ConsumerGroup<String> next = start(1);
        Awaitility.await().until(() -> seen.size() == 2);
        next.close();
        assertThat(holder()).containsExactly("null");
    }

    /** The enemy: a process dies that had done everything, and thousands of later messages are handled as if it could have died of them. */
    @Test
    void what_is_published_after_a_partition_was_taken_over_is_not_suspect() {
        publish("t", "suspect");
        orphan();
        ConsumerGroup<String> group = start(1);
        Awaitility.await().until(() -> seen.size() == 1);
        group.close();
        assertThat(holder()).containsExactly("null");
    }
}
