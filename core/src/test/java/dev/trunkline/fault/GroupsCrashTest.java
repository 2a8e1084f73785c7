package dev.trunkline.fault;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.embedded.EmbeddedPostgres;
import dev.trunkline.embedded.Shutdown;
import dev.trunkline.testing.NumberedGroups;
import dev.trunkline.testing.Seed;
import dev.trunkline.testing.TestDatabase;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** F3, F4 for groups: P3, P5 and P9 while the server crashes under load. */
@Tag("fault")
@Timeout(600)
class GroupsCrashTest {

    @Test
    void groups_go_on_after_crashes_and_miss_nothing() {
        crash(4, 150);
    }

    @Test
    @Tag("long")
    void groups_go_on_after_many_crashes_and_miss_nothing() {
        crash(40, 400);
    }

    private static void crash(int times, int mostBetween) {
        long seed = Seed.next();
        Random random = new Random(seed);
        try (EmbeddedPostgres server = EmbeddedPostgres.temporary().start()) {
            TestDatabase database = TestDatabase.on(server);
            try (Trunkline trunkline =
                    database.options().lease(Duration.ofSeconds(3)).open()) {
                trunkline.topics().create(TopicConfiguration.pubSub("t").withPartitions(4));
                try (NumberedGroups groups = new NumberedGroups(trunkline, database, seed).start()) {
                    for (int i = 0; i < times; i++) {
                        groups.awaitMore(1 + random.nextInt(mostBetween));
                        if (random.nextInt(4) == 0) {
                            server.kill();
                            server.start();
                        } else {
                            server.restart(Shutdown.IMMEDIATE);
                        }
                    }
                    groups.awaitMore(mostBetween);
                    groups.verify();
                }
                // An outage ends nobody.
                assertThat(database.number("select count(*) from trunkline.session"))
                        .as("seed %d", seed)
                        .isOne();
            }
        }
    }
}
