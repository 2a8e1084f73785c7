package dev.trunkline.behaviour;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.Message;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.testing.TestDatabase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What many groups of a process read of the log is read from the database about once. */
@Timeout(300)
class SharedReadingTest {

    private static final int GROUPS = 32;

    private final TestDatabase database = TestDatabase.fresh();

    @BeforeEach
    void create() {
        try (Trunkline trunkline = database.open()) {
            trunkline.topics().create(TopicConfiguration.pubSub("t").withPartitions(4));
        }
    }

    @Test
    void a_backlog_is_not_read_once_for_each_group() throws Exception {
        int backlog = 10_000;
        try (Trunkline trunkline = database.open()) {
            for (int from = 0; from < backlog; from += 1_000) {
                publish(trunkline, from, from + 1_000);
            }
        }
        long before = framesRead();
        try (Trunkline trunkline = database.open()) {
            CountDownLatch all = new CountDownLatch(GROUPS);
            start(trunkline, SubscriptionOptions.fromBeginning(), backlog, all);
            assertThat(all.await(200, TimeUnit.SECONDS)).isTrue();
        }
        assertThat(framesRead() - before).isBetween(frames(), 6 * frames());
    }

    @Test
    void what_is_published_now_is_not_looked_for_once_by_each_group() throws Exception {
        int messages = 50;
        long before = looks();
        try (Trunkline trunkline =
                database.options().pollInterval(Duration.ofMinutes(10)).open()) {
            CountDownLatch all = new CountDownLatch(GROUPS);
            List<AtomicInteger> handled = start(trunkline, SubscriptionOptions.fromNow(), messages, all);
            Awaitility.await()
                    .atMost(Duration.ofSeconds(60))
                    .until(() -> database.number("select count(*) from trunkline.holder where session is null") == 0
                            && database.number("select count(*) from trunkline.holder") == 4 * GROUPS);
            for (int i = 0; i < messages; i++) {
                int published = i + 1;
                publish(trunkline, i, published);
                Awaitility.await()
                        .pollInterval(Duration.ofMillis(1))
                        .atMost(Duration.ofSeconds(60))
                        .until(() -> handled.stream().allMatch(count -> count.get() == published));
            }
            assertThat(all.await(60, TimeUnit.SECONDS)).isTrue();
        }
        // Each group by itself would look into four partitions for each message at least.
        assertThat(looks() - before).isLessThan(4L * GROUPS * messages / 4);
    }

    /** The enemy: each takes what it finds free, other partitions for each group, and every process reads all of the log. */
    @Test
    void a_process_holds_the_same_partitions_for_all_its_groups() {
        try (Trunkline one = database.open();
                Trunkline other = database.open()) {
            for (int group = 0; group < 4; group++) {
                // Who comes first finds all of them free.
                for (Trunkline each : group % 2 == 0 ? List.of(one, other) : List.of(other, one)) {
                    each.createConsumerGroup("group " + group, "t", byte[].class)
                            .addConsumer("c", delivery -> {})
                            .start(SubscriptionOptions.fromNow());
                }
            }
            Awaitility.await()
                    .atMost(Duration.ofSeconds(60))
                    .until(() -> database.query("select count(*) from trunkline.holder group by subscription, session")
                            .equals(Collections.nCopies(8, "2")));
            Awaitility.await()
                    .untilAsserted(() -> assertThat(
                                    database.query(
                                            "select count(distinct h.partitions) from (select session, array_agg(partition order by partition) as partitions"
                                                    + " from trunkline.holder group by subscription, session) h group by h.session"))
                            .containsExactly("1", "1"));
        }
    }

    private static List<AtomicInteger> start(
            Trunkline trunkline, SubscriptionOptions options, int messages, CountDownLatch all) {
        List<AtomicInteger> handled = new ArrayList<>();
        for (int group = 0; group < GROUPS; group++) {
            AtomicInteger count = new AtomicInteger();
            handled.add(count);
            trunkline
                    .createConsumerGroup("group " + group, "t", byte[].class)
                    .addConsumer("counter", delivery -> {
                        if (count.incrementAndGet() == messages) {
                            all.countDown();
                        }
                    })
                    .start(options);
        }
        return handled;
    }

    private static void publish(Trunkline trunkline, int from, int to) {
        trunkline
                .publisher()
                .publishAll(IntStream.range(from, to)
                        .mapToObj(i -> Message.of("t", new byte[100]).withKey("k" + i % 100))
                        .toList());
    }

    private long frames() {
        return database.number("select count(*) from trunkline.segment_1");
    }

    private long framesRead() {
        return statistic("idx_tup_fetch");
    }

    private long looks() {
        return statistic("idx_scan");
    }

    /** A backend has told its statistics before it is gone. */
    private long statistic(String name) {
        Awaitility.await()
                .until(() -> database.number(
                                "select count(*) from pg_stat_activity"
                                        + " where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'")
                        == 0);
        return database.number("select coalesce(" + name + ", 0) from pg_stat_user_tables where relname = 'segment_1'");
    }
}
