package dev.trunkline.fault;

import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.rig.ChildJvm;
import dev.trunkline.testing.History;
import dev.trunkline.testing.History.Call;
import dev.trunkline.testing.History.Outcome;
import dev.trunkline.testing.PublishingProcess;
import dev.trunkline.testing.Seed;
import dev.trunkline.testing.TestDatabase;
import dev.trunkline.testing.Verdict;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** F2: publishers are killed in the midst of batches and transactions. */
@Tag("fault")
class PublisherKilledTest {

    private final TestDatabase database = TestDatabase.fresh();
    private final History history = new History();

    @Test
    void a_batch_of_a_killed_publisher_is_whole_or_absent_and_sent_again_it_is_one() throws Exception {
        long seed = Seed.next();
        Random random = new Random(seed);
        try (Trunkline trunkline = database.open()) {
            trunkline
                    .topics()
                    .create(TopicConfiguration.queue("orders").withPartitions(4).withLanes(2));
            for (int round = 0; round < 4; round++) {
                publishUntilKilled(trunkline, "r" + round, 1 + random.nextInt(60));
            }
            // What they had sent may still be under way in the server, which notices in its own time.
            Awaitility.await()
                    .until(() -> database.number(
                                    "select count(*) from pg_stat_activity where application_name = 'publisher'")
                            == 0);
            Verdict.onLog(trunkline, database.dataSource(), "orders", history, "seed " + seed);
        }
    }

    private void publishUntilKilled(Trunkline trunkline, String name, int calls) throws InterruptedException {
        Map<String, Long> begun = new LinkedHashMap<>();
        try (ChildJvm child = ChildJvm.start(
                PublishingProcess.class,
                database.url() + "?ApplicationName=publisher",
                database.server().user(),
                database.server().password(),
                name)) {
            int done = 0;
            for (String line = child.readLine(); line != null; line = child.readLine()) {
                String[] words = line.split(" ", -1);
                long at = Long.parseLong(words[2]);
                if (words[0].equals("begin")) {
                    begun.put(words[1], at);
                } else {
                    record(words[1], Outcome.OK, begun.remove(words[1]), at);
                    if (++done == calls) {
                        child.kill();
                    }
                }
            }
            child.waitFor();
        }
        begun.forEach((prefix, at) -> {
            if (prefix.startsWith("keyed")) {
                trunkline.publisher().publishAll(PublishingProcess.messages(prefix));
                record(prefix, Outcome.OK, at, System.nanoTime());
            } else {
                record(prefix, Outcome.UNKNOWN, at, System.nanoTime());
            }
        });
    }

    private void record(String prefix, Outcome outcome, long invoked, long ended) {
        history.add(new Call(PublishingProcess.values(prefix), false, outcome, invoked, ended));
    }
}
