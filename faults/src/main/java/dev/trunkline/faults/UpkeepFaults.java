package dev.trunkline.faults;

import dev.trunkline.Trunkline;
import dev.trunkline.TrunklineException;
import dev.trunkline.embedded.Shutdown;
import java.io.IOException;
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

    private static final String CREATE = "select trunkline.create_topic('scratch', 'PUB_SUB')";
    private static final String SUBSCRIBE = "select trunkline.subscribe('passer-by', 'scratch', 'NOW')";
    private static final String COUNT = "select trunkline.alter_topic('orders', tracking => 'REFERENCE_COUNTING')";

    /** Does something, and tells whether it was done, or need not be. What can not be done now may be done later. */
    private interface Deed {
        boolean isDone(Trial trial);
    }

    /**
     * It happens whole or not at all, and can be done again.
     *
     * @param within how much later, at most, the server is stopped
     * @param before what must be done before there is anything to do for it
     */
    private record Step(String name, Deed deed, Duration within, List<String> before) {
        Step(String sql, List<String> before) {
            this(sql, trial -> run(trial, sql), Duration.ofMillis(20), before);
        }

        Step(String sql) {
            this(sql, List.of());
        }
    }

    private static final String EMPTY = "empty";

    private static final List<Step> STEPS = List.of(
            new Step(ROLL),
            new Step(TRIM),
            new Step("select trunkline.rotate_progress(interval '0')"),
            new Step(COUNT),
            new Step("select trunkline.alter_topic('orders', tracking => 'OFFSET_WATERMARK')", List.of(COUNT)),
            new Step("select trunkline.watch_groups()"),
            new Step("select trunkline.sweep_groups()"),
            new Step("select trunkline.advance_outbox(interval '0')"),
            new Step("select trunkline.clear_outbox(n, interval '0') from generate_series(0, 3) n"),
            new Step("select trunkline.prune_marks(interval '0')"),
            new Step("select trunkline.rotate_idempotency()"),
            new Step("call trunkline.relay_now()"),
            new Step("call trunkline.upkeep_now()"),
            new Step(CREATE),
            new Step(SUBSCRIBE, List.of(CREATE)),
            new Step(
                    "select trunkline.seek('passer-by', 'scratch', 'BEGINNING', a_force => true)",
                    List.of(CREATE, SUBSCRIBE)),
            new Step("select trunkline.change_group('passer-by', 'scratch', 'CANCELLED')", List.of(CREATE, SUBSCRIBE)),
            new Step("select trunkline.drop_topic('scratch')", List.of(CREATE)),
            new Step(
                    "migrate",
                    UpkeepFaults::migrate,
                    Duration.ofMillis(500),
                    List.of("drop database if exists " + EMPTY + " with (force)", "create database " + EMPTY)));

    private UpkeepFaults() {}

    static List<Fault> all() {
        return List.of(
                new Fault("F14", "hold a lock while segments are made and dropped", UpkeepFaults::holdLock)
                        .sparingPublishers(),
                new Fault("F21", "stop PostgreSQL in the midst of upkeep", UpkeepFaults::crashInStep));
    }

    /** The lock that a drop gives up on, and a little. */
    private static final Duration PUBLISHED_WITHIN = Duration.ofMillis(550);

    /** As a dump does, or a person who looks at the log and goes to lunch. */
    private static void holdLock(Trial trial) throws SQLException, IOException {
        try (Connection holder = trial.connect();
                Connection other = trial.connect();
                Statement holding = holder.createStatement();
                Statement doing = other.createStatement()) {
            doing.execute(HURRY);
            doing.execute(ROLL);
            trial.awaitMore(100);
            long segment = number(doing, OLDEST);
            holder.setAutoCommit(false);
            long began = System.nanoTime();
            holding.execute("lock table trunkline.segment_" + segment + " in access share mode");
            for (int i = 0; i < 3; i++) {
                doing.execute(ROLL);
                expectLocked(doing, segment);
                trial.awaitMore(100);
            }
            trial.took("99 of 100 published within", Deeds.publishedWithin(trial.journals(), began), PUBLISHED_WITHIN);
            holder.rollback();
            Standing.await("the segment that was locked is dropped", () -> number(doing, OLDEST) > segment);
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
        Step step = trial.draw(STEPS);
        run(trial, HURRY);
        for (String before : step.before) {
            Standing.await(before, () -> run(trial, before));
        }
        trial.pause(Duration.ofMillis(500));
        trial.harm(() -> {
            CompletableFuture<Boolean> doing = CompletableFuture.supplyAsync(() -> step.deed.isDone(trial));
            trial.pause(step.within);
            trial.server().restart(Shutdown.IMMEDIATE);
            doing.join();
        });
        Standing.await("it can be done again: " + step.name, () -> step.deed.isDone(trial));
        trial.awaitMore(100);
    }

    /** The schema of an empty database: each of its files was carried out once, or is to be. */
    private static boolean migrate(Trial trial) {
        Address empty = StartFaults.address(trial, EMPTY);
        try (Trunkline trunkline = empty.open()) {
            StartFaults.requireMigratedOnce(empty);
            return trunkline.topics().list().isEmpty();
        } catch (TrunklineException | SQLException e) {
            return false;
        }
    }

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
