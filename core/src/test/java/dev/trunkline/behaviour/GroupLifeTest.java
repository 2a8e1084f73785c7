package dev.trunkline.behaviour;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.trunkline.ConsumerGroup;
import dev.trunkline.ConsumerGroupException;
import dev.trunkline.GroupListener;
import dev.trunkline.GroupMetrics;
import dev.trunkline.LogMessage;
import dev.trunkline.Message;
import dev.trunkline.Priority;
import dev.trunkline.Receipt;
import dev.trunkline.RetryPolicy;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.testing.TestDatabase;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What users can ask of a running group: to wait for a message, what it does, how much at once, and what it can not do. */
@Timeout(300)
class GroupLifeTest {

    private final TestDatabase database = TestDatabase.fresh();
    private final List<String> seen = new CopyOnWriteArrayList<>();
    private Trunkline trunkline;

    @BeforeEach
    void open() {
        trunkline = database.options().lease(Duration.ofSeconds(3)).open();
        trunkline.topics().create(TopicConfiguration.pubSub("t").withPartitions(4));
    }

    @AfterEach
    void close() {
        trunkline.close();
    }

    @Test
    void who_waits_for_a_message_reads_what_its_handler_wrote_whichever_way_it_was_published() throws Exception {
        trunkline
                .createConsumerGroup("g", "t", String.class)
                .addConsumer("a", delivery -> seen.add(delivery.payload()))
                .start(SubscriptionOptions.fromBeginning());
        try (Trunkline other = database.open();
                Connection connection = database.connect()) {
            // It is started in another process only.
            ConsumerGroup<String> group = other.createConsumerGroup("g", "t", String.class);
            for (int i = 0; i < 3; i++) {
                Receipt direct =
                        other.publisher().publish(Message.of("t", "direct " + i).withKey("k" + i));
                assertThat(group.await(direct, Duration.ofSeconds(60))).isTrue();
                assertThat(seen).contains("direct " + i);
                connection.setAutoCommit(false);
                Receipt transactional = other.publisher()
                        .publish(connection, Message.of("t", "outbox " + i).withKey("k" + i));
                connection.commit();
                assertThat(group.await(transactional, Duration.ofSeconds(60))).isTrue();
                assertThat(seen).contains("outbox " + i);
            }
        }
    }

    @Test
    void waiting_ends_at_the_timeout_and_says_when_the_message_was_given_up() throws Exception {
        CountDownLatch gate = new CountDownLatch(1);
        ConsumerGroup<String> group = trunkline
                .createConsumerGroup("g", "t", String.class)
                .addConsumer("a", delivery -> {
                    gate.await();
                    throw new IllegalStateException("no");
                })
                .start(SubscriptionOptions.fromBeginning().withRetry(new RetryPolicy(1, Duration.ZERO, Duration.ZERO)));
        Receipt receipt = trunkline.publisher().publish(Message.of("t", "m").withKey("k"));
        assertThat(group.await(receipt, Duration.ofMillis(100))).isFalse();
        Receipt delayed = trunkline.publisher().publish(Message.of("t", "m").withDelay(Duration.ofHours(1)));
        assertThat(group.await(delayed, Duration.ofMillis(100))).isFalse();
        gate.countDown();
        assertThatThrownBy(() -> group.await(receipt, Duration.ofSeconds(60)))
                .isInstanceOf(ConsumerGroupException.class)
                .hasMessageContaining("dead letters");
        assertThatThrownBy(() -> trunkline
                        .createConsumerGroup("nobody", "t", String.class)
                        .await(receipt, Duration.ofSeconds(1)))
                .hasMessageContaining("no group \"nobody\"");
        assertThat(group.deadLetters().list(0, 10)).singleElement().satisfies(letter -> {
            assertThat(letter.text()).isEqualTo("m");
            assertThat(letter.error()).contains("no");
            assertThat(letter.decided()).isFalse();
            assertThat(group.deadLetters().discard(List.of(letter.id()))).isEqualTo(1);
        });
        await(() -> group.deadLetters().list(0, 10).isEmpty());
    }

    @Test
    void the_monitor_counts_what_happens_and_no_key_is_ever_out_of_order() {
        List<String> told = new CopyOnWriteArrayList<>();
        AtomicInteger tries = new AtomicInteger();
        ConsumerGroup<String> group = trunkline
                .createConsumerGroup("g", "t", String.class)
                .listener(new GroupListener() {
                    @Override
                    public void failed(LogMessage message, int attempt, Throwable problem) {
                        told.add(message.text() + " failed " + attempt);
                        throw new IllegalStateException("a listener that fails");
                    }

                    @Override
                    public void taken(int partition, long epoch) {
                        told.add("taken " + partition);
                    }

                    @Override
                    public void left(int partition) {
                        told.add("left " + partition);
                    }
                })
                .addConsumer("a", delivery -> {
                    if (delivery.payload().equals("hot 7") && tries.incrementAndGet() == 1) {
                        throw new IllegalStateException("once");
                    }
                    seen.add(delivery.payload());
                })
                .start(SubscriptionOptions.fromBeginning()
                        .withRetry(new RetryPolicy(3, Duration.ofMillis(10), Duration.ofMillis(10))));
        List<Message> messages = new ArrayList<>();
        for (int i = 0; i < 2_000; i++) {
            messages.add(Message.of("t", "hot " + i).withKey("hot"));
            messages.add(Message.of("t", "cold " + i).withKey("cold" + i));
        }
        trunkline.publisher().publishAll(messages);
        await(() -> group.metrics().handled() == 4_000);
        await(() -> group.metrics().lag().values().stream().allMatch(lag -> lag == 0));
        GroupMetrics metrics = group.metrics();
        assertThat(metrics.failed()).isEqualTo(1);
        assertThat(metrics.deadLettered()).isZero();
        assertThat(metrics.outOfOrder()).isZero();
        assertThat(metrics.underWay()).isZero();
        assertThat(metrics.lag()).hasSize(4);
        assertThat(metrics.longestHandling()).isGreaterThanOrEqualTo(metrics.meanHandling());
        assertThat(metrics.hottestKeys().keySet().iterator().next()).isEqualTo("hot");
        assertThat(told).contains("hot 7 failed 1", "taken 0", "taken 3");
    }

    @Test
    void a_limited_consumer_never_has_more_and_holds_up_no_other() throws Exception {
        Semaphore gate = new Semaphore(0);
        AtomicInteger running = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        ConsumerGroup<String> group = trunkline
                .createConsumerGroup("g", "t", String.class)
                .addConsumer(
                        "slow",
                        delivery -> {
                            most.accumulateAndGet(running.incrementAndGet(), Math::max);
                            gate.acquire();
                            running.decrementAndGet();
                            seen.add(delivery.payload());
                        },
                        message -> message.text().startsWith("slow"))
                .addConsumer(
                        "quick",
                        delivery -> seen.add(delivery.payload()),
                        message -> message.text().startsWith("quick"))
                .limit("slow", 2);
        group.start(SubscriptionOptions.fromBeginning().withConcurrency(8));
        trunkline
                .publisher()
                .publishAll(IntStream.range(0, 200)
                        .mapToObj(i -> Message.of("t", (i % 2 == 0 ? "slow " : "quick ") + i)
                                .withKey("k" + i))
                        .toList());
        await(() -> seen.size() == 100);
        assertThat(seen).allMatch(text -> text.startsWith("quick"));
        await(() -> running.get() == 2);
        gate.release(100);
        await(() -> seen.size() == 200);
        assertThat(most.get()).isEqualTo(2);
        assertThatThrownBy(() -> group.limit("nobody", 1)).hasMessageContaining("nobody");
        assertThatThrownBy(() -> group.limit("slow", 0)).hasMessageContaining("0");
    }

    @Test
    void high_priority_goes_first_and_low_is_not_starved() {
        trunkline
                .topics()
                .create(TopicConfiguration.queue("q").withPartitions(1).withPriorityLevels(true));
        List<Message> messages = new ArrayList<>();
        for (Priority priority : List.of(Priority.LOW, Priority.NORMAL, Priority.HIGH)) {
            for (int i = 0; i < 300; i++) {
                messages.add(
                        Message.of("q", priority.name()).withPriority(priority).withKey(priority + "" + i));
            }
        }
        trunkline.publisher().publishAll(messages);
        CountDownLatch allRead = new CountDownLatch(1);
        ConsumerGroup<String> group = trunkline
                .createConsumer("q", String.class)
                .addConsumer("a", delivery -> {
                    allRead.await();
                    seen.add(delivery.payload());
                })
                .start(SubscriptionOptions.fromBeginning().withConcurrency(1));
        await(() -> group.metrics().underWay() == 900);
        allRead.countDown();
        await(() -> seen.size() == 900);
        List<String> first = seen.subList(0, 300);
        assertThat(first.stream().filter("HIGH"::equals).count()).isGreaterThan(150);
        assertThat(first.stream().filter("LOW"::equals).count()).isPositive();
    }

    @Test
    void a_process_may_name_the_partitions_it_takes() {
        trunkline
                .createConsumerGroup("g", "t", String.class)
                .addConsumer("a", delivery -> seen.add(delivery.message().partition() + ""))
                .start(SubscriptionOptions.fromBeginning().withPartitions(Set.of(1, 3)));
        trunkline
                .publisher()
                .publishAll(IntStream.range(0, 400)
                        .mapToObj(i -> Message.of("t", "m").withKey("k" + i))
                        .toList());
        await(() -> seen.containsAll(List.of("1", "3"))
                && database.number("select sum(lag) from trunkline.lag('g', 't') where partition in (1, 3)") == 0);
        assertThat(seen).containsOnly("1", "3");
        assertThatThrownBy(() -> trunkline
                        .createConsumerGroup("h", "t", String.class)
                        .addConsumer("a", delivery -> {})
                        .start(SubscriptionOptions.fromBeginning().withPartitions(Set.of(4))))
                .isInstanceOf(ConsumerGroupException.class)
                .hasMessageContaining("0 to 3, not 4");
    }

    @Test
    void a_group_that_is_further_than_its_log_waits_and_says_so() {
        Set<Integer> ahead = ConcurrentHashMap.newKeySet();
        trunkline.publisher().publish(Message.of("t", "m").withKey("k"));
        ConsumerGroup<String> group = trunkline
                .createConsumerGroup("g", "t", String.class)
                .addConsumer("a", delivery -> seen.add(delivery.payload()))
                .start(SubscriptionOptions.fromBeginning());
        await(() -> seen.size() == 1);
        group.close();
        // As after a failover that lost the end of the log, but not of the group.
        database.execute("update trunkline.holder set base = array['{[0,1000)}'::int8multirange]");
        trunkline
                .createConsumerGroup("g", "t", String.class)
                .listener(new GroupListener() {
                    @Override
                    public void aheadOfLog(int partition, long cursor, long end) {
                        ahead.add(partition);
                    }
                })
                .addConsumer("a", delivery -> seen.add(delivery.payload()))
                .start(SubscriptionOptions.fromBeginning());
        await(() -> ahead.size() == 4);
    }

    @Test
    void two_processes_may_use_the_same_consumer_id_and_share_the_work() {
        // Neither loses what it has because it stands still for a while.
        Duration lease = Duration.ofMinutes(10);
        try (Trunkline one = database.options().lease(lease).open();
                Trunkline other = database.options().lease(lease).open()) {
            for (Trunkline process : List.of(one, other)) {
                process.createConsumerGroup("g", "t", String.class)
                        .addConsumer("a", delivery -> seen.add(delivery.payload()))
                        .start(SubscriptionOptions.fromBeginning());
            }
            await(() -> database.number("select count(distinct session) from trunkline.holder") == 2);
            for (int i = 0; i < 200; i++) {
                trunkline.publisher().publish(Message.of("t", "m" + i).withKey("k" + i));
            }
            await(() -> seen.size() >= 200);
        }
        assertThat(seen).hasSize(200).doesNotHaveDuplicates();
    }

    private static void await(Callable<Boolean> condition) {
        Awaitility.await().atMost(Duration.ofSeconds(60)).until(condition);
    }
}
