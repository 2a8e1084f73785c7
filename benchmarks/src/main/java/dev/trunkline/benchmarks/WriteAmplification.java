package dev.trunkline.benchmarks;

import dev.trunkline.SubscriptionOptions;
import dev.trunkline.benchmarks.Contest.Turns;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** What 1, 8 and 64 groups of one process write while each works off the same backlog. */
final class WriteAmplification implements Scenario {

    private static final String FEW = "1";
    private static final String SOME = "8";
    private static final String MANY = "64";
    private static final int MOST_REPETITIONS = 3;
    private static final String INSTALLATION = "amplified";

    private int turn;

    @Override
    public String name() {
        return "write-amplification";
    }

    @Override
    public String summary() {
        return "rows and WAL that 1, 8 and 64 groups write for each message and group while they work off a backlog";
    }

    @Override
    public List<Result> run(Workbench bench) throws Exception {
        int messages = bench.effort().amplifiedMessages();
        int repetitions = Math.min(MOST_REPETITIONS, bench.effort().repetitions());
        Set<String> sizes = new LinkedHashSet<>(List.of(FEW, SOME, MANY));
        double first;
        Turns rows = Turns.of(sizes, repetitions);
        Turns bytes = Turns.of(sizes, repetitions);
        try (Writes writes = new Writes(bench, INSTALLATION)) {
            publish(bench, messages);
            // Who reads first sets hint bits, which are logged where pages have checksums: once for the topic, not for
            // each group.
            first = (double) consume(bench, writes, 1, messages).walBytes() / messages;
            for (int i = 0; i < repetitions; i++) {
                for (String groups : sizes) {
                    bench.progress("%s: %d of %d, %s groups".formatted(name(), i + 1, repetitions, groups));
                    double deliveries = (double) messages * Integer.parseInt(groups);
                    Writes.Total written = consume(bench, writes, Integer.parseInt(groups), messages);
                    rows.of(groups)[i] = written.rows() / deliveries;
                    bytes.of(groups)[i] = written.walBytes() / deliveries;
                }
            }
        }
        List<Result> results = new ArrayList<>();
        sizes.forEach(groups -> results.add(rows(rows.of(groups), groups, messages)));
        results.add(bytes(bytes).with("bytesOfTheFirstReader", first));
        return results;
    }

    private static void publish(Workbench bench, int messages) throws Exception {
        try (Installation installation = bench.install(INSTALLATION, true);
                Crew publishers = installation.publishers(PublishAndConsume.PUBLISHERS, PublishAndConsume.BATCH)) {
            publishers.times(messages / PublishAndConsume.BATCH);
            Tally.require("published", messages, installation.appended());
        }
    }

    /** New groups begin at the beginning, in an instance of their own. Returns what was written until all had all. */
    private Writes.Total consume(Workbench bench, Writes writes, int groups, int messages) throws Exception {
        bench.settle();
        Writes.Total before = writes.total();
        try (Installation installation = bench.install(INSTALLATION, true)) {
            List<CountedGroup> all = new ArrayList<>();
            for (int i = 0; i < groups; i++) {
                all.add(new CountedGroup(installation.trunkline(), "amplified-" + turn++)
                        .start(SubscriptionOptions.fromBeginning()));
            }
            for (CountedGroup group : all) {
                group.await(messages);
                group.closeAt(messages);
            }
        }
        return writes.total().since(before);
    }

    private Result rows(double[] rows, String groups, int messages) {
        double[] ones = new double[rows.length];
        Arrays.fill(ones, 1);
        return Result.of(
                        name() + "-" + groups,
                        "rows for each message and group",
                        rows,
                        "one row for each message and group",
                        ones,
                        rows,
                        Target.atMost(0.05, "rows inserted, updated and deleted"))
                .with("messages", messages);
    }

    private Result bytes(Turns bytes) {
        double some = Numbers.median(bytes.of(SOME));
        return Result.of(
                        name() + "-wal",
                        "bytes of WAL for each message and group, " + MANY + " groups",
                        bytes.of(MANY),
                        "the same with " + FEW + " group",
                        bytes.of(FEW),
                        bytes.ratios(MANY, FEW),
                        new Target("< 1, falling", ratio -> ratio < 1))
                .requiring("falls", Numbers.median(bytes.of(FEW)) > some && some > Numbers.median(bytes.of(MANY)))
                .with("with" + SOME + "Groups", some);
    }
}
