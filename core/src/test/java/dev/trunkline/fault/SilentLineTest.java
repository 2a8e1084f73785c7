package dev.trunkline.fault;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.GroupListener;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.rig.FaultProxy;
import dev.trunkline.rig.FaultProxy.Fate;
import dev.trunkline.testing.NumberedLoad;
import dev.trunkline.testing.Seed;
import dev.trunkline.testing.Starts;
import dev.trunkline.testing.Starts.Start;
import dev.trunkline.testing.TestDatabase;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** P13 and P5: the line for notifications and beats says nothing, while the one for work is good. */
@Tag("fault")
@Timeout(300)
class SilentLineTest {

    private static final int PARTITIONS = 4;
    private static final int KEYS = 12;

    private final TestDatabase database = TestDatabase.fresh();
    private final FaultProxy proxy = new FaultProxy(database.server().port());
    private final Starts starts = new Starts();
    private final long seed = Seed.next();

    private Trunkline publishing;
    private Trunkline silenced;

    @BeforeEach
    void open() {
        publishing = database.options().open();
        publishing.topics().create(TopicConfiguration.pubSub("t").withPartitions(PARTITIONS));
    }

    private void openSilenced() {
        silenced = database.options()
                .directUrl(proxy.jdbcUrl(database.name()))
                .lease(Duration.ofSeconds(3))
                .open();
    }

    @AfterEach
    void close() {
        proxy.refuse(false);
        proxy.cutNow();
        if (silenced != null) {
            silenced.close();
        }
        publishing.close();
        proxy.close();
    }

    @Test
    void without_notifications_all_still_flows() {
        openSilenced();
        proxy.silence(true);
        everythingFlows();
    }

    @Test
    void with_a_listener_in_a_black_hole_all_still_flows() {
        openSilenced();
        proxy.trap("listen trunkline", Fate.REPLY_VANISHES);
        everythingFlows();
        await(() -> proxy.trapped() == 1);
    }

    private void everythingFlows() {
        consume(silenced, "silenced", new GroupListener() {});
        await(() -> held() == PARTITIONS);
        // One after the other: nothing but the poll brings each of them.
        try (NumberedLoad load = new NumberedLoad(publishing, "t", 1)) {
            load.start();
            await(() -> starts.count("g") >= 20);
            load.stop();
            await(() -> starts.count("g") == load.count());
            assertThat(starts.violations("g", load.acknowledged())).isEmpty();
        }
        assertThat(database.number("select max(epoch) from trunkline.holder")).isOne();
    }

    @Test
    void a_beat_that_vanishes_is_sent_again_on_another_connection() {
        openSilenced();
        proxy.trap("trunkline.beat(", Fate.REQUEST_VANISHES);
        consume(silenced, "silenced", new GroupListener() {});
        await(() -> proxy.trapped() == 1);
        await(() -> database.number("select count(*) from trunkline.session where beat > 0 or id > 1") > 0);
    }

    @Test
    void who_can_not_beat_stops_before_another_takes_over() {
        openSilenced();
        Map<Integer, Long> taken = new ConcurrentHashMap<>();
        consume(silenced, "silenced", new GroupListener() {});
        await(() -> held() == PARTITIONS);
        try (Trunkline other = database.options().lease(Duration.ofSeconds(3)).open();
                NumberedLoad load = new NumberedLoad(publishing, "t", KEYS)) {
            load.start();
            int before = 1 + new Random(seed).nextInt(500);
            await(() -> starts.count("g") >= before);
            proxy.refuse(true);
            proxy.cutNow();
            consume(other, "other", new GroupListener() {
                @Override
                public void taken(int partition, long epoch) {
                    taken.putIfAbsent(partition, System.nanoTime());
                }
            });
            await(() -> taken.size() == PARTITIONS);
            long now = starts.count("g");
            await(() -> starts.count("g") >= now + 100);
            proxy.refuse(false);
            await(() -> database.number("select count(distinct h.session) from trunkline.holder h") == 2);
            load.stop();
            await(() -> starts.count("g") == load.count());
            assertThat(starts.violations("g", load.acknowledged()))
                    .as("seed %d", seed)
                    .isEmpty();
        }
        // Between the look at the clock and the call of the handler there may be a pause: one message of a key.
        Map<String, Long> late = starts.all().stream()
                .filter(start -> start.process().equals("silenced") && start.epoch() == 1)
                .filter(start -> start.at() - taken.get(start.partition()) > 0)
                .collect(Collectors.groupingBy(Start::key, Collectors.counting()));
        assertThat(late.values()).as("seed %d: %s", seed, late).allMatch(count -> count <= 1);
    }

    private void consume(Trunkline trunkline, String process, GroupListener listener) {
        trunkline
                .createConsumerGroup("g", "t", String.class)
                .addConsumer("a", delivery -> starts.add(process, delivery))
                .listener(listener)
                .start(SubscriptionOptions.fromBeginning());
    }

    private long held() {
        return database.number("select count(*) from trunkline.holder where session is not null");
    }

    private void await(Callable<Boolean> condition) {
        Awaitility.await("seed " + seed)
                .atMost(Duration.ofSeconds(60))
                .pollInterval(Duration.ofMillis(50))
                .until(condition);
    }
}
