package dev.trunkline.benchmarks;

import dev.trunkline.benchmarks.database.Query;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** The relay of a backlog, against moving the same rows with one plain statement; and what it costs as the outbox grows. */
final class RelayBacklog implements Scenario {

    private static final int PER_TRANSACTION = 10;
    private static final int GROWTH_RUN = 1_000;
    private static final int GROWTH_WARM_UP = 3;

    @Override
    public String name() {
        return "relay";
    }

    @Override
    public String summary() {
        return "relayNow over a backlog, against a plain insert … select … order by; and its cost as the outbox grows";
    }

    @Override
    public List<Result> run(Workbench bench) throws Exception {
        return List.of(backlog(bench), growth(bench));
    }

    private Result backlog(Workbench bench) throws Exception {
        Effort effort = bench.effort();
        double[] raw = new double[effort.repetitions()];
        double[] relayed = new double[effort.repetitions()];
        try (Installation installation = bench.install("relay", false);
                Connection connection = bench.address().connect()) {
            installation.execute(installation.sql("createOutboxCopy"));
            installation.execute(installation.sql("createRows", "moved"));
            for (int i = -1; i < effort.repetitions(); i++) {
                int rows = i < 0
                        ? Math.max(PER_TRANSACTION, effort.amounts().relayRows() / 4)
                        : effort.amounts().relayRows();
                bench.progress("%s: %d of %d, %d rows".formatted(name(), i + 1, effort.repetitions(), rows));
                long before = Query.number(connection, installation.sql("lastOutboxId"));
                Backlog.make(bench, installation, rows, PER_TRANSACTION);
                double rawRate = move(bench, installation, connection, before, rows);
                double rate = relay(bench, installation, rows);
                if (i >= 0) {
                    raw[i] = rawRate;
                    relayed[i] = rate;
                }
            }
        }
        return Result.of(
                        name(),
                        "messages/s",
                        relayed,
                        "one insert … select … order by of the same rows into a table with a primary key",
                        raw,
                        Numbers.ratios(relayed, raw),
                        Target.atLeast(0.30))
                .with("rows", effort.amounts().relayRows());
    }

    private static double move(Workbench bench, Installation installation, Connection connection, long after, int rows)
            throws SQLException {
        Query.execute(connection, installation.sql("emptyOutboxCopy"));
        try (var copy = connection.prepareStatement(installation.sql("copyOutbox"))) {
            copy.setLong(1, after);
            requireRows("copied", rows, copy.executeUpdate());
        }
        bench.settle();
        long began = System.nanoTime();
        try (var move = connection.createStatement()) {
            requireRows("moved", rows, move.executeUpdate(installation.sql("moveCopy", "moved")));
        }
        return rows * 1e9 / (System.nanoTime() - began);
    }

    private static double relay(Workbench bench, Installation installation, int rows) throws SQLException {
        bench.settle();
        long began = System.nanoTime();
        requireRows("relayed", rows, installation.trunkline().relayNow());
        return rows * 1e9 / (System.nanoTime() - began);
    }

    private static void requireRows(String what, long expected, long actual) {
        if (expected != actual) {
            throw new IllegalStateException("%d rows were %s, not %d".formatted(actual, what, expected));
        }
    }

    /** Two outboxes by turns: one in which hardly anything was relayed before, one in which very much was. */
    private Result growth(Workbench bench) throws Exception {
        Effort effort = bench.effort();
        double[] early = new double[effort.amounts().growthRuns()];
        double[] late = new double[effort.amounts().growthRuns()];
        try (Installation empty = bench.install("empty", false);
                Installation full = bench.install("full", false)) {
            bench.progress("%s-growth: relaying %d rows first"
                    .formatted(name(), effort.amounts().growthRows()));
            Backlog.make(bench, full, effort.amounts().growthRows(), GROWTH_RUN);
            requireRows(
                    "relayed", effort.amounts().growthRows(), full.trunkline().relayNow());
            bench.settle();
            for (int i = -GROWTH_WARM_UP; i < effort.amounts().growthRuns(); i++) {
                bench.progress("%s-growth: %d of %d"
                        .formatted(name(), Math.max(0, i + 1), effort.amounts().growthRuns()));
                double earlyMillis = relayMillis(bench, empty);
                double lateMillis = relayMillis(bench, full);
                if (i >= 0) {
                    early[i] = earlyMillis;
                    late[i] = lateMillis;
                }
            }
        }
        return Result.of(
                        name() + "-growth",
                        "ms for 1,000 rows",
                        late,
                        "the same relay in an outbox where hardly anything was relayed before",
                        early,
                        Numbers.ratios(late, early),
                        Target.atMost(1.3, "late / early"))
                .with("relayedBefore", effort.amounts().growthRows());
    }

    private static double relayMillis(Workbench bench, Installation installation) throws Exception {
        Backlog.make(bench, installation, GROWTH_RUN, PER_TRANSACTION);
        long began = System.nanoTime();
        requireRows("relayed", GROWTH_RUN, installation.trunkline().relayNow());
        return (System.nanoTime() - began) / 1e6;
    }
}
