package dev.trunkline.fault;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.checker.Journal;
import dev.trunkline.embedded.EmbeddedPostgres;
import dev.trunkline.embedded.Shutdown;
import dev.trunkline.testing.Load;
import dev.trunkline.testing.Seed;
import dev.trunkline.testing.TestDatabase;
import dev.trunkline.testing.Verdict;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** F3, F4: P1, P2 and P4 while the server crashes under load. */
@Tag("fault")
class CrashTest {

    @TempDir
    Path journals;

    @Test
    void acknowledged_messages_survive_crashes_once_and_in_order() throws SQLException {
        crash(5, 150);
    }

    @Test
    @Tag("long")
    void acknowledged_messages_survive_many_crashes_once_and_in_order() throws SQLException {
        crash(30, 500);
    }

    private void crash(int times, int callsBetween) throws SQLException {
        long seed = Seed.next();
        Journal journal = Journal.create(journals, "load");
        try (EmbeddedPostgres server = EmbeddedPostgres.temporary().start()) {
            TestDatabase database = TestDatabase.on(server);
            Load.createBusinessTable(database);
            try (Trunkline trunkline = database.options().open()) {
                // Small segments, so that upkeep rolls them while all this goes on.
                trunkline
                        .topics()
                        .create(TopicConfiguration.queue("orders")
                                .withPartitions(4)
                                .withLanes(2)
                                .withSegments(8192, Duration.ofHours(1)));
                List<Throwable> surprises;
                try (Load load = new Load(trunkline, database.dataSource(), "orders", journal, seed)) {
                    load.start(6);
                    for (int i = 0; i < times; i++) {
                        load.awaitMore(callsBetween);
                        if (i % 5 == 3) {
                            server.kill();
                            server.start();
                        } else {
                            server.restart(Shutdown.IMMEDIATE);
                        }
                    }
                    load.awaitMore(callsBetween);
                    load.stop();
                    surprises = load.surprises();
                }
                String about = "seed " + seed;
                Verdict.on(trunkline, database.dataSource(), "orders", journals, about);
                assertThat(surprises).as(about).isEmpty();
            }
        }
    }
}
