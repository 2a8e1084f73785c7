package dev.trunkline.fault;

import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.checker.Event.End;
import dev.trunkline.checker.Event.Outcome;
import dev.trunkline.checker.Event.Publish;
import dev.trunkline.checker.Event.Way;
import dev.trunkline.checker.Journal;
import dev.trunkline.rig.ChildJvm;
import dev.trunkline.testing.PublishingProcess;
import dev.trunkline.testing.Seed;
import dev.trunkline.testing.TestDatabase;
import dev.trunkline.testing.Verdict;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.Random;
import java.util.Set;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** F2: publishers are killed in the midst of batches and transactions. */
@Tag("fault")
class PublisherKilledTest {

    @TempDir
    Path journals;

    private final TestDatabase database = TestDatabase.fresh();

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
            Verdict.onLog(trunkline, database.dataSource(), "orders", journals, "seed " + seed);
        }
    }

    private void publishUntilKilled(Trunkline trunkline, String name, int calls) throws InterruptedException {
        Journal journal = Journal.create(journals, name);
        Set<String> begun = new LinkedHashSet<>();
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
                    begin(journal, words[1], at);
                    begun.add(words[1]);
                } else {
                    journal.write(new End(at, words[1], Outcome.OK));
                    begun.remove(words[1]);
                    if (++done == calls) {
                        child.kill();
                    }
                }
            }
            child.waitFor();
        }
        for (String prefix : begun) {
            if (prefix.startsWith("keyed")) {
                trunkline.publisher().publishAll(PublishingProcess.messages(prefix));
                journal.end(prefix, Outcome.OK);
            }
        }
    }

    private static void begin(Journal journal, String prefix, long at) {
        journal.write(PublishingProcess.messages(prefix).stream()
                .map(message -> new Publish(
                        at, prefix, message.topic(), message.key(), (String) message.payload(), Way.PUBLISH))
                .toList());
    }
}
