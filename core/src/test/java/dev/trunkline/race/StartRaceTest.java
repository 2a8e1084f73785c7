package dev.trunkline.race;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.ConsumerGroupException;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.testing.TestDatabase;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Threads of one process that start the same group at the same moment. */
@Timeout(300)
class StartRaceTest {

    private static final int THREADS = 6;
    private static final int ROUNDS = 30;

    @Test
    void one_of_many_starts_a_group_and_the_others_are_told() throws Exception {
        TestDatabase database = TestDatabase.fresh();
        try (Trunkline trunkline = database.open();
                ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
            trunkline.topics().create(TopicConfiguration.pubSub("t").withPartitions(1));
            for (int round = 0; round < ROUNDS; round++) {
                String group = "g" + round;
                database.query("select trunkline.subscribe(?, 't', 'BEGINNING')", group);
                CyclicBarrier together = new CyclicBarrier(THREADS);
                Callable<Boolean> start = () -> {
                    together.await();
                    return isStarted(trunkline, group);
                };
                List<Future<Boolean>> starts = new ArrayList<>();
                for (int i = 0; i < THREADS; i++) {
                    starts.add(threads.submit(start));
                }
                int started = 0;
                for (Future<Boolean> each : starts) {
                    started += each.get() ? 1 : 0;
                }
                assertThat(started).as("round %d", round).isOne();
            }
        }
    }

    private static boolean isStarted(Trunkline trunkline, String group) {
        try {
            trunkline
                    .createConsumerGroup(group, "t", String.class)
                    .addConsumer("c", delivery -> {})
                    .start(SubscriptionOptions.fromBeginning());
            return true;
        } catch (ConsumerGroupException e) {
            assertThat(e).hasMessageContaining("is started in this process already");
            return false;
        }
    }
}
