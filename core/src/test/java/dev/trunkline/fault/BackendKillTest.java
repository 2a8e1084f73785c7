package dev.trunkline.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.trunkline.Message;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.checker.Journal;
import dev.trunkline.testing.Load;
import dev.trunkline.testing.Logs;
import dev.trunkline.testing.Seed;
import dev.trunkline.testing.TestDatabase;
import dev.trunkline.testing.Verdict;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** F6: somebody terminates and cancels our backends. */
@Tag("fault")
class BackendKillTest {

    private static final int POOL = 4;

    @TempDir
    Path journals;

    private final TestDatabase database = TestDatabase.fresh();

    @Test
    void publishing_relay_and_upkeep_outlive_their_backends_and_leak_none() throws SQLException {
        storm(40, 10);
    }

    @Test
    @Tag("long")
    void publishing_relay_and_upkeep_outlive_a_thousand_of_their_backends() throws SQLException {
        storm(1_000, 20);
    }

    private void storm(int strikes, int callsBetween) throws SQLException {
        long seed = Seed.next();
        Journal journal = Journal.create(journals, "load");
        Load.createBusinessTable(database);
        try (HikariDataSource pool = new HikariDataSource(pool());
                Trunkline trunkline = Trunkline.builder().dataSource(pool).open()) {
            trunkline
                    .topics()
                    .create(TopicConfiguration.queue("orders")
                            .withPartitions(4)
                            .withLanes(2)
                            .withSegments(8192, Duration.ofHours(1)));
            try (Load load = new Load(trunkline, database.dataSource(), "orders", journal, seed).start(4)) {
                Random random = new Random(seed);
                try (Connection killer = database.connect()) {
                    for (int i = 0; i < strikes; i++) {
                        load.awaitMore(callsBetween);
                        strike(killer, random);
                    }
                }
                load.awaitMore(callsBetween);
                load.stop();
                Verdict.on(trunkline, database.dataSource(), "orders", journals, "seed " + seed);
                assertThat(load.surprises()).as("seed " + seed).isEmpty();
            }
            relayStillRuns(trunkline);
            upkeepStillRuns();
            await("no connection is leaked, seed " + seed)
                    .until(() -> pool.getHikariPoolMXBean().getActiveConnections() == 0);
        }
    }

    private HikariConfig pool() {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(database.url());
        config.setUsername(database.server().user());
        config.setPassword(database.server().password());
        config.setMaximumPoolSize(POOL);
        return config;
    }

    /** One backend, or all at once, is terminated or told to cancel. */
    private static void strike(Connection killer, Random random) throws SQLException {
        String blow = random.nextBoolean() ? "pg_terminate_backend" : "pg_cancel_backend";
        int most = random.nextInt(4) == 0 ? 100 : 1;
        TestDatabase.query(
                killer,
                "select " + blow + "(v.pid) from (select pid from pg_stat_activity where datname = current_database()"
                        + " and backend_type = 'client backend' and pid <> pg_backend_pid()"
                        + " order by hashint4extended(pid, ?) limit ?) v",
                random.nextLong(),
                most);
    }

    private void relayStillRuns(Trunkline trunkline) throws SQLException {
        try (Connection connection = database.connect()) {
            connection.setAutoCommit(false);
            trunkline.publisher().publish(connection, Message.of("orders", "relayed in the background"));
            connection.commit();
        }
        await().until(() -> Logs.texts(trunkline, "orders").contains("relayed in the background"));
    }

    private void upkeepStillRuns() {
        long segments = database.number("select max(id) from trunkline.segment");
        await().atMost(Duration.ofSeconds(60))
                .until(() -> database.number("select max(id) from trunkline.segment") > segments
                        || database.number("select count(*) from trunkline.topics_to_roll()") == 0);
    }
}
