package dev.trunkline.faults;

import dev.trunkline.embedded.Shutdown;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** What is done while segments come and go, and other upkeep. */
final class UpkeepFaults {

    /** From now on segments are dropped as soon as they are done with, however few messages they hold. */
    private static final String HURRY = "select trunkline.alter_topic(t.name, retention => '1 s', segment_age => '1 s')"
            + " from trunkline.topic t where t.name in ('orders', 'clicks')";

    private static final String ROLL =
            "select trunkline.roll_segment(t.id) from trunkline.topic t where t.name in ('orders', 'clicks')";
    private static final String TRIM =
            "select trunkline.trim(t.id) from trunkline.topic t where t.name in ('orders', 'clicks')";
    private static final String OLDEST =
            "select min(s.id) from trunkline.segment s join trunkline.topic t on t.id = s.topic"
                    + " where t.name = 'clicks' and s.opened_at is not null";

    /** Each happens whole or not at all, and can be done again. */
    private static final List<String> STEPS = List.of(
            ROLL,
            TRIM,
            "select trunkline.rotate_progress(interval '0')",
            "select trunkline.alter_topic('orders', tracking => 'REFERENCE_COUNTING')",
            "select trunkline.alter_topic('orders', tracking => 'OFFSET_WATERMARK')",
            "select trunkline.watch_groups()",
            "select trunkline.sweep_groups()",
            "select trunkline.advance_outbox(interval '0')",
            "select trunkline.clear_outbox(n, interval '0') from generate_series(0, 3) n",
            "select trunkline.prune_marks(interval '0')",
            "select trunkline.rotate_idempotency()",
            "select trunkline.subscribe('passer-by', 'scratch', 'NOW')",
            "select trunkline.seek('passer-by', 'scratch', 'BEGINNING', a_force => true)",
            "select trunkline.change_group('passer-by', 'scratch', 'CANCELLED')",
            "select trunkline.create_topic('scratch', 'PUB_SUB')",
            "select trunkline.drop_topic('scratch')");

    private UpkeepFaults() {}

    static List<Fault> all() {
        return List.of(
                new Fault("F14", "hold a lock while segments are made and dropped", UpkeepFaults::holdLock),
                new Fault("F21", "stop PostgreSQL in the midst of upkeep", UpkeepFaults::crashInStep));
    }

    /** As a dump does, or a person who looks at the log and goes to lunch. */
    private static void holdLock(Trial trial) throws SQLException {
        try (Connection holder = trial.connect();
                Connection other = trial.connect();
                Statement holding = holder.createStatement();
                Statement doing = other.createStatement()) {
            doing.execute(HURRY);
            doing.execute(ROLL);
            trial.awaitMore(100);
            long segment = number(doing, OLDEST);
            holder.setAutoCommit(false);
            holding.execute("lock table trunkline.segment_" + segment + " in access share mode");
            for (int i = 0; i < 3; i++) {
                doing.execute(ROLL);
                expectLocked(doing, segment);
                trial.awaitMore(100);
            }
            holder.rollback();
            Trial.await("the segment that was locked is dropped", () -> number(doing, OLDEST) > segment);
        }
    }

    /** The drop gives up, and the segment is still there. */
    private static void expectLocked(Statement doing, long segment) throws SQLException {
        try {
            doing.execute(TRIM);
        } catch (SQLException e) {
            if (!"55P03".equals(e.getSQLState())) {
                throw e;
            }
        }
        if (number(doing, OLDEST) != segment) {
            throw new IllegalStateException("segment " + segment + " is gone, though it was locked");
        }
    }

    private static long number(Statement statement, String sql) throws SQLException {
        try (ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }

    private static void crashInStep(Trial trial) throws Exception {
        String step = trial.oneOf(STEPS);
        run(trial, HURRY);
        trial.pause(Duration.ofMillis(500));
        trial.harm(() -> {
            CompletableFuture<Boolean> doing = CompletableFuture.supplyAsync(() -> run(trial, step));
            trial.pause(Duration.ofMillis(20));
            trial.server().restart(Shutdown.IMMEDIATE);
            doing.join();
        });
        Trial.await("it can be done again: " + step, () -> run(trial, step));
        trial.awaitMore(100);
    }

    /** Whether it was done, or need not be. What can not be done now, because of a lock or a server that is away, may be done later. */
    private static boolean run(Trial trial, String sql) {
        try (Connection connection = trial.connect();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
            return true;
        } catch (SQLException e) {
            return e.getSQLState() != null && e.getSQLState().startsWith("TL");
        }
    }
}
