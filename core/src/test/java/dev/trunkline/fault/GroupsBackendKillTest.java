package dev.trunkline.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.testing.NumberedGroups;
import dev.trunkline.testing.Seed;
import dev.trunkline.testing.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** F6 for groups: somebody terminates and cancels the backends of a process that consumes. */
@Tag("fault")
@Timeout(600)
class GroupsBackendKillTest {

    private static final int POOL = 8;

    private final TestDatabase database = TestDatabase.fresh();

    @Test
    void groups_outlive_their_backends_and_leak_none() throws SQLException {
        storm(40, 25);
    }

    @Test
    @Tag("long")
    void groups_outlive_a_thousand_of_their_backends() throws SQLException {
        storm(1_000, 50);
    }

    private void storm(int strikes, int mostBetween) throws SQLException {
        long seed = Seed.next();
        Random random = new Random(seed);
        try (HikariDataSource pool = new HikariDataSource(pool())) {
            try (Trunkline trunkline = Trunkline.builder()
                            .dataSource(pool)
                            .poolSize(POOL)
                            .lease(Duration.ofSeconds(3))
                            .open();
                    Connection killer = database.connect()) {
                trunkline.topics().create(TopicConfiguration.pubSub("t").withPartitions(4));
                try (NumberedGroups groups = new NumberedGroups(trunkline, database, seed).start()) {
                    for (int i = 0; i < strikes; i++) {
                        groups.awaitMore(1 + random.nextInt(mostBetween));
                        strike(killer, random);
                    }
                    groups.awaitMore(mostBetween);
                    groups.verify();
                }
                await("it listens again, seed " + seed)
                        .atMost(Duration.ofSeconds(60))
                        .until(() -> database.number("select count(*) from pg_stat_activity"
                                        + " where datname = current_database() and query like 'listen %'")
                                == 1);
                assertThat(database.number("select count(*) from trunkline.session"))
                        .as("seed %d", seed)
                        .isOne();
            }
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
        String blow = random.nextInt(3) > 0 ? "pg_terminate_backend" : "pg_cancel_backend";
        int most = random.nextInt(3) == 0 ? 100 : 1;
        TestDatabase.query(
                killer,
                "select " + blow + "(v.pid) from (select pid from pg_stat_activity where datname = current_database()"
                        + " and backend_type = 'client backend' and pid <> pg_backend_pid()"
                        + " order by hashint4extended(pid, ?) limit ?) v",
                random.nextLong(),
                most);
    }
}
