package dev.trunkline.fault;

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
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** P10 and P7 without a fault: who closes hands over at once, and nothing comes twice. */
@Tag("fault")
@Timeout(300)
class HandOverTest {

    private static final int PARTITIONS = 4;

    private final TestDatabase database = TestDatabase.fresh();
    private final List<String> seen = new CopyOnWriteArrayList<>();
    private final Set<String> poison = ConcurrentHashMap.newKeySet();
    private final CountDownLatch running = new CountDownLatch(1);
    private final CountDownLatch release = new CountDownLatch(1);
    private Trunkline first;
    private Trunkline second;

    @BeforeEach
    void open() {
        first = open(database);
        second = open(database);
        first.topics().create(TopicConfiguration.pubSub("t").withPartitions(PARTITIONS));
    }

    /** With a lease that no test waits for. */
    private static Trunkline open(TestDatabase database) {
        return database.options().lease(Duration.ofMinutes(10)).open();
    }

    @AfterEach
    void close() {
        release.countDown();
        first.close();
        second.close();
    }

    @Test
    void a_process_that_closes_is_followed_at_once() {
        try (Trunkline leaving = open(database)) {
            consume(leaving);
            await(() -> held() == PARTITIONS);
            publish("k", 0, 50);
            await(() -> seen.size() == 50);
        }
        assertThat(held()).isZero();
        consume(second);
        publish("k", 50, 100);
        await(() -> seen.size() == 100);
        assertThat(seen).containsExactlyElementsOf(texts("k", 0, 100));
        await(() -> held() == PARTITIONS);
        assertThat(database.query("select epoch from trunkline.holder")).containsOnly("2");
    }

    @Test
    void a_parked_message_in_the_hands_of_who_closes_does_not_come_again() throws Exception {
        poison.add("k0");
        ConsumerGroup<String> group = consume(first);
        publish("k", 0, 3);
        await(() -> database.number("select count(*) from trunkline.parked") == 2);
        poison.clear();
        poison.add("wait");
        database.number("select trunkline.redrive('g', 't')");
        running.await();
        Thread closing = Thread.ofPlatform().start(group::close);
        // It waits for the handler.
        await(() -> closing.getState() == Thread.State.TIMED_WAITING);
        release.countDown();
        closing.join();
        assertThat(database.number("select count(*) from trunkline.holder where session is not null"))
                .isZero();
        consume(second);
        await(() -> database.number("select count(*) from trunkline.parked") == 0);
        assertThat(seen).containsExactlyElementsOf(texts("k", 0, 3));
    }

    private ConsumerGroup<String> consume(Trunkline trunkline) {
        return trunkline
                .createConsumerGroup("g", "t", String.class)
                .addConsumer("a", delivery -> {
                    if (poison.contains(delivery.payload())) {
                        throw new IllegalStateException(delivery.payload() + " is poison");
                    }
                    seen.add(delivery.payload());
                    if (poison.contains("wait")) {
                        running.countDown();
                        release.await();
                    }
                })
                .start(SubscriptionOptions.fromBeginning().withRetry(new RetryPolicy(1, Duration.ZERO, Duration.ZERO)));
    }

    private void publish(String key, int from, int to) {
        second.publisher()
                .publishAll(texts(key, from, to).stream()
                        .map(text -> Message.of("t", text).withKey(key))
                        .toList());
    }

    private static List<String> texts(String key, int from, int to) {
        return IntStream.range(from, to).mapToObj(i -> key + i).toList();
    }

    private long held() {
        return database.number("select count(*) from trunkline.holder where session is not null");
    }

    private static void await(Callable<Boolean> condition) {
        Awaitility.await().atMost(Duration.ofSeconds(60)).until(condition);
    }
}
