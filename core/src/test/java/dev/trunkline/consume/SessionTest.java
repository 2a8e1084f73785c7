package dev.trunkline.consume;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.trunkline.database.Database;
import dev.trunkline.database.Statements;
import dev.trunkline.testing.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** P10: what a session had goes to others when it ends, not when they happen to look. */
@Timeout(300)
class SessionTest {

    /** Looks that take longer than an eighth of this say nothing: so much time has each. */
    private static final String LEASE_OF_DEAD = "4 seconds";

    private final TestDatabase database = TestDatabase.fresh();
    private final HikariDataSource pool = new HikariDataSource(connections());
    private final Semaphore ends = new Semaphore(0);
    private Session session;

    /** They are there when it looks. */
    private HikariConfig connections() {
        HikariConfig config = new HikariConfig();
        config.setDataSource(database.dataSource());
        config.setMaximumPoolSize(2);
        return config;
    }

    @BeforeEach
    void begin() {
        database.open().close();
        Database own = new Database(pool, () -> {}, "trunkline");
        session = new Session(
                        own,
                        Statements.beside(Groups.class, "consume.sql", own.schema()),
                        Duration.ofMillis(500),
                        timeline -> {},
                        ends::release,
                        new Session.Loops() {
                            @Override
                            public Map<Long, Watch.Beat> steps() {
                                return Map.of();
                            }

                            @Override
                            public void stalled(long loop) {
                                throw new AssertionError("there is none");
                            }
                        })
                .start();
    }

    @AfterEach
    void end() {
        session.close();
        pool.close();
    }

    @Test
    void one_that_it_ends_is_told() throws InterruptedException {
        database.number("select trunkline.begin_session('dead', ?::interval)", LEASE_OF_DEAD);
        ends.acquire();
    }

    @Test
    void one_that_somebody_else_ends_is_told() throws InterruptedException {
        long other = beginOther();
        database.query("select trunkline.end_session(?)", other);
        ends.acquire();
    }

    /** The enemy: whoever ended it dies before it has terminated what the dead one left. */
    @Test
    void the_transactions_of_one_that_somebody_else_ends_are_terminated() throws Exception {
        long other = beginOther();
        try (Connection handler = handler(other);
                Statement statement = handler.createStatement()) {
            statement.execute("select 1");
            database.execute("update trunkline.session set ended_at = now() where id = " + other);
            ends.acquire();
            assertThatThrownBy(() -> statement.execute("select 1")).hasMessageContaining("terminating connection");
        }
    }

    /** The enemy: of handlers that were stopped at their fences, the next has the row as soon as one is gone, and its successor waits for each. */
    @Test
    void those_that_wait_for_each_other_are_terminated_too() throws Exception {
        long other = beginOther();
        try (Connection first = handler(other);
                Connection second = handler(other);
                Statement fence = first.createStatement();
                Statement waiting = second.createStatement();
                ExecutorService thread = Executors.newSingleThreadExecutor()) {
            String row = "select from trunkline.installation for no key update";
            fence.execute(row);
            Future<Boolean> next = thread.submit(() -> waiting.execute(row));
            Awaitility.await()
                    .until(() -> database.number(
                                    "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and application_name = 'trunkline session "
                                            + other + "'")
                            == 1);
            database.execute("update trunkline.session set ended_at = now() where id = " + other);
            ends.acquire();
            assertThatThrownBy(next::get).hasMessageContaining("terminating connection");
        }
    }

    private Connection handler(long session) throws SQLException {
        Connection handler = database.connect();
        try (Statement statement = handler.createStatement()) {
            statement.execute("set application_name = 'trunkline session " + session + "'");
        }
        handler.setAutoCommit(false);
        return handler;
    }

    /** Another session that lives for long, and that this one has seen. */
    private long beginOther() throws InterruptedException {
        long other = database.number("select trunkline.begin_session('other', '1 day')");
        database.number("select trunkline.begin_session('dead', ?::interval)", LEASE_OF_DEAD);
        ends.acquire(); // by now it has seen both
        return other;
    }
}
