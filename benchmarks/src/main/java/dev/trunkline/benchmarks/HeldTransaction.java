package dev.trunkline.benchmarks;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Publishing and relaying while somebody holds a transaction open, against the same while nobody does. */
final class HeldTransaction implements Scenario {

    private static final int PUBLISHERS = 2;
    private static final int BATCH = 100;
    private static final int CONNECTIONS = 16;
    private static final int SLICES = 10;
    private static final Target TARGET = Target.atLeast(0.90);
    private static final String BATCHES = "publish";
    private static final String TRANSACTIONS = "transactional";
    private static final String RELAY = "relay";

    @Override
    public String name() {
        return "held-transaction";
    }

    @Override
    public String summary() {
        return "publishing and relaying with a transaction held open, against the same without, and over a long time";
    }

    @Override
    public List<Result> run(Workbench bench) throws Exception {
        try (Installation installation = bench.install("held", true);
                Installation backlog = bench.install("held_backlog", false)) {
            BusinessTransactions.prepare(installation);
            installation.execute(installation.sql("createHeld"));
            try (Crew batches = Crew.of(
                            PUBLISHERS,
                            () -> () -> installation
                                    .publisher()
                                    .publishAll(Samples.keyed(BATCH))
                                    .size());
                    Crew transactions = Crew.of(
                            CONNECTIONS,
                            () -> BusinessTransactions.publishing(
                                    bench.address().connect(), installation))) {
                Map<String, Contest.Side> work = new LinkedHashMap<>();
                work.put(BATCHES, batches::rate);
                work.put(TRANSACTIONS, transactions::rate);
                work.put(RELAY, seconds -> relay(bench, backlog));
                Stream<Result> byTurns = byTurns(bench, work).stream();
                work.remove(RELAY);
                return Stream.concat(byTurns, Stream.of(longWindow(bench, work)))
                        .toList();
            }
        }
    }

    private static double relay(Workbench bench, Installation backlog) throws Exception {
        int rows = bench.effort().relayRows() / 4;
        Backlog.make(bench, backlog, rows, 10);
        long began = System.nanoTime();
        backlog.trunkline().relayNow();
        return rows * 1e9 / (System.nanoTime() - began);
    }

    /** One transaction is held over the turns of all kinds of work, then the same turns are taken without it. */
    private List<Result> byTurns(Workbench bench, Map<String, Contest.Side> work) throws Exception {
        Effort effort = bench.effort();
        for (Contest.Side side : work.values()) {
            side.turn(effort.warmUp());
        }
        Map<String, double[]> free = rates(work, effort.repetitions());
        Map<String, double[]> held = rates(work, effort.repetitions());
        for (int i = 0; i < effort.repetitions(); i++) {
            bench.progress("%s: %d of %d".formatted(name(), i + 1, effort.repetitions()));
            turn(bench, work, free, i);
            try (Connection holder = hold(bench)) {
                turn(bench, work, held, i);
                holder.rollback();
            }
        }
        return work.keySet().stream()
                .map(kind -> Result.of(
                        name() + "-" + kind,
                        "messages/s",
                        rate(held, kind),
                        "the same work while nobody holds a transaction open",
                        rate(free, kind),
                        Numbers.ratios(rate(held, kind), rate(free, kind)),
                        TARGET))
                .toList();
    }

    private static Map<String, double[]> rates(Map<String, Contest.Side> work, int repetitions) {
        Map<String, double[]> rates = new LinkedHashMap<>();
        work.keySet().forEach(kind -> rates.put(kind, new double[repetitions]));
        return rates;
    }

    private static double[] rate(Map<String, double[]> rates, String kind) {
        return rates.getOrDefault(kind, new double[0]);
    }

    private static void turn(Workbench bench, Map<String, Contest.Side> work, Map<String, double[]> rates, int i)
            throws Exception {
        for (var side : work.entrySet()) {
            bench.settle();
            rate(rates, side.getKey())[i] = side.getValue().turn(bench.effort().seconds());
        }
    }

    /** The end of a long held transaction against its beginning: the kind of work that suffered more. */
    private Result longWindow(Workbench bench, Map<String, Contest.Side> work) throws Exception {
        Effort effort = bench.effort();
        Map<String, double[]> control = Map.of();
        if (effort.controlSeconds() > 0) {
            bench.progress(name() + "-long: without a held transaction");
            control = slices(bench, work, effort.controlSeconds());
        }
        Map<String, double[]> slices;
        bench.progress(name() + "-long: with a held transaction");
        try (Connection holder = hold(bench)) {
            slices = slices(bench, work, effort.heldSeconds());
            holder.rollback();
        }
        String worst = endToBeginning(slices, BATCHES) < endToBeginning(slices, TRANSACTIONS) ? BATCHES : TRANSACTIONS;
        Result result = Result.of(
                        name() + "-long",
                        "messages/s, " + worst,
                        new double[] {end(slices, worst)},
                        "the beginning of the same held transaction",
                        new double[] {beginning(slices, worst)},
                        new double[] {endToBeginning(slices, worst)},
                        TARGET)
                .with("heldSeconds", effort.heldSeconds());
        for (String kind : work.keySet()) {
            result = result.with(kind + "Ratio", endToBeginning(slices, kind));
            if (!control.isEmpty()) {
                result = result.with(kind + "RatioWithoutHeldTransaction", endToBeginning(control, kind));
            }
        }
        return result;
    }

    private static Map<String, double[]> slices(Workbench bench, Map<String, Contest.Side> work, double seconds)
            throws Exception {
        Map<String, double[]> slices = rates(work, SLICES);
        bench.settle();
        for (int i = 0; i < SLICES; i++) {
            for (var side : work.entrySet()) {
                rate(slices, side.getKey())[i] = side.getValue().turn(seconds / SLICES / work.size());
            }
        }
        return slices;
    }

    private static double endToBeginning(Map<String, double[]> slices, String kind) {
        return end(slices, kind) / beginning(slices, kind);
    }

    private static double beginning(Map<String, double[]> slices, String kind) {
        return Numbers.median(Arrays.copyOf(rate(slices, kind), SLICES / 3));
    }

    private static double end(Map<String, double[]> slices, String kind) {
        return Numbers.median(Arrays.copyOfRange(rate(slices, kind), SLICES - SLICES / 3, SLICES));
    }

    /** A transaction with a snapshot and an id, as a report that also writes would be. */
    private static Connection hold(Workbench bench) throws SQLException {
        Connection holder = bench.address().connect();
        holder.setAutoCommit(false);
        holder.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
        Query.execute(holder, new Sql("").get("insertHeld"));
        return holder;
    }
}
