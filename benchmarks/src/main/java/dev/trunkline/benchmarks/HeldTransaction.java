package dev.trunkline.benchmarks;

import dev.trunkline.benchmarks.Contest.Turns;
import dev.trunkline.benchmarks.database.Query;
import dev.trunkline.benchmarks.database.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Publishing, relaying and consuming while somebody holds a transaction open, against the same while nobody does. */
final class HeldTransaction implements Scenario {

    private static final int CONNECTIONS = 16;
    private static final int SLICES = 10;
    private static final int LONG_WINDOWS = 4;
    private static final Target TARGET = Target.atLeast(0.90);
    private static final String BATCHES = "publish";
    private static final String TRANSACTIONS = "transactional";
    private static final String RELAY = "relay";
    private static final String CONSUMING = "consume";

    @Override
    public String name() {
        return "held-transaction";
    }

    @Override
    public String summary() {
        return "publishing, relaying and consuming with a transaction held open, against the same without; also for long";
    }

    @Override
    public List<Result> run(Workbench bench) throws Exception {
        try (Installation installation = bench.install("held", true);
                Installation backlog = bench.install("held_backlog", false);
                Installation consumed = bench.install("held_consumed", true)) {
            BusinessTransactions.prepare(installation);
            prepare(bench);
            try (Crew batches = installation.publishers(PublishAndConsume.PUBLISHERS, PublishAndConsume.BATCH);
                    PublishAndConsume consuming = new PublishAndConsume(consumed);
                    Crew transactions = Crew.of(
                            CONNECTIONS,
                            () -> BusinessTransactions.publishing(
                                    bench.address().connect(), installation))) {
                Map<String, Contest.Side> steady = new LinkedHashMap<>();
                steady.put(BATCHES, batches::rate);
                steady.put(TRANSACTIONS, transactions::rate);
                steady.put(CONSUMING, consuming::rate);
                Map<String, Contest.Side> all = new LinkedHashMap<>(steady);
                all.put(RELAY, seconds -> relay(bench, backlog));
                List<Result> results = new ArrayList<>(byTurns(bench, all));
                results.addAll(longWindows(bench, steady));
                return results;
            }
        }
    }

    private static double relay(Workbench bench, Installation backlog) throws Exception {
        Backlog.make(bench, backlog, bench.effort().amounts().relayRows() / 4, 10);
        long began = System.nanoTime();
        long relayed = backlog.trunkline().relayNow();
        return relayed * 1e9 / (System.nanoTime() - began);
    }

    /** One transaction is held over the turns of all kinds of work, then the same turns are taken without it. */
    private List<Result> byTurns(Workbench bench, Map<String, Contest.Side> work) throws Exception {
        Effort effort = bench.effort();
        for (Contest.Side side : work.values()) {
            side.turn(effort.warmUp());
        }
        int rounds = effort.repetitions() + effort.repetitions() % 2;
        Turns free = Turns.of(work.keySet(), rounds);
        Turns held = Turns.of(work.keySet(), rounds);
        for (int i = 0; i < rounds; i++) {
            int round = i;
            bench.progress("%s: %d of %d".formatted(name(), i + 1, rounds));
            bothWays(bench, round, () -> turn(bench, work, free, round), () -> turn(bench, work, held, round));
        }
        return work.keySet().stream()
                .map(kind -> Result.of(
                        name() + "-" + kind,
                        "messages/s",
                        held.of(kind),
                        "the same work while nobody holds a transaction open",
                        free.of(kind),
                        Numbers.ratios(held.of(kind), free.of(kind)),
                        TARGET))
                .toList();
    }

    /** Something that is measured. */
    @FunctionalInterface
    private interface Measurement {
        void take() throws Exception;
    }

    /** Without and with a transaction held open: each goes first as often as the other, since what is measured drifts. */
    private static void bothWays(Workbench bench, int round, Measurement free, Measurement held) throws Exception {
        if (round % 2 == 0) {
            free.take();
        }
        try (Connection holder = hold(bench)) {
            held.take();
            holder.rollback();
        }
        if (round % 2 == 1) {
            free.take();
        }
    }

    private static void turn(Workbench bench, Map<String, Contest.Side> work, Turns turns, int i) throws Exception {
        for (var side : work.entrySet()) {
            bench.settle();
            turns.of(side.getKey())[i] = side.getValue().turn(bench.effort().seconds());
        }
    }

    /** The end of a long held transaction against the end of a window as long without one, by turns. */
    private List<Result> longWindows(Workbench bench, Map<String, Contest.Side> work) throws Exception {
        Turns free = Turns.of(work.keySet(), LONG_WINDOWS);
        Turns held = Turns.of(work.keySet(), LONG_WINDOWS);
        for (int i = 0; i < LONG_WINDOWS; i++) {
            int round = i;
            bench.progress("%s-long: %d of %d".formatted(name(), i + 1, LONG_WINDOWS));
            bothWays(
                    bench,
                    round,
                    () -> ends(slices(bench, work), free, round),
                    () -> ends(slices(bench, work), held, round));
        }
        return work.keySet().stream()
                .map(kind -> Result.of(
                                name() + "-long-" + kind,
                                "messages/s in the last third",
                                held.of(kind),
                                "the last third of a window as long while nobody holds a transaction open",
                                free.of(kind),
                                Numbers.ratios(held.of(kind), free.of(kind)),
                                TARGET)
                        .with("windowSeconds", bench.effort().amounts().heldSeconds()))
                .toList();
    }

    private static Turns slices(Workbench bench, Map<String, Contest.Side> work) throws Exception {
        double seconds = bench.effort().amounts().heldSeconds();
        Turns slices = Turns.of(work.keySet(), SLICES);
        bench.settle();
        for (int i = 0; i < SLICES; i++) {
            for (var side : work.entrySet()) {
                slices.of(side.getKey())[i] = side.getValue().turn(seconds / SLICES / work.size());
            }
        }
        return slices;
    }

    /** The rates of the last third. */
    private static void ends(Turns slices, Turns ends, int i) {
        slices.rates()
                .forEach((kind, rates) ->
                        ends.of(kind)[i] = Numbers.median(Arrays.copyOfRange(rates, SLICES - SLICES / 3, SLICES)));
    }

    /** Makes what {@link #hold} needs. */
    static void prepare(Workbench bench) throws SQLException {
        try (Connection connection = bench.address().connect()) {
            Query.execute(connection, new Sql("").get("createHeld"));
        }
    }

    /** A transaction with a snapshot and an id, as a report that also writes would be. */
    static Connection hold(Workbench bench) throws SQLException {
        Connection holder = bench.address().connect();
        holder.setAutoCommit(false);
        holder.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
        Query.execute(holder, new Sql("").get("insertHeld"));
        return holder;
    }
}
