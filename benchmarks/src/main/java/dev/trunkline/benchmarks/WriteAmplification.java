package dev.trunkline.benchmarks;

import dev.trunkline.SubscriptionOptions;
import dev.trunkline.benchmarks.Contest.Turns;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** What 1, 8 and 64 groups of one process write while each works off a backlog that nobody has read before. */
final class WriteAmplification implements Scenario {

    private static final String FEW = "1";
    private static final String SOME = "8";
    private static final String MANY = "64";
    private static final int MOST_REPETITIONS = 3;

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
        int messages = bench.effort().amounts().amplifiedMessages();
        int repetitions = Math.min(MOST_REPETITIONS, bench.effort().repetitions());
        Set<String> sizes = new LinkedHashSet<>(List.of(FEW, SOME, MANY));
        Turns rows = Turns.of(sizes, repetitions);
        Turns bytes = Turns.of(sizes, repetitions);
        List<Double> later = new ArrayList<>();
        for (int i = 0; i < repetitions; i++) {
            for (String size : sizes) {
                bench.progress("%s: %d of %d, %s groups".formatted(name(), i + 1, repetitions, size));
                int groups = Integer.parseInt(size);
                try (Topic topic = new Topic(bench, "amplified_" + turn++, messages)) {
                    topic.publish();
                    Writes.Total written = topic.consume(groups, "first");
                    rows.of(size)[i] = (double) written.rows() / messages / groups;
                    bytes.of(size)[i] = (double) written.walBytes() / messages / groups;
                    later.add((double) topic.consume(1, "later").walBytes() / messages);
                }
            }
        }
        List<Result> results = new ArrayList<>();
        sizes.forEach(size -> results.add(rows(rows.of(size), size, messages)));
        results.add(bytes(bytes).with("bytesOfALaterGroup", Numbers.median(Numbers.array(later))));
        return results;
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

    /** A topic in an installation of its own. */
    private record Topic(Workbench bench, String name, int messages, Writes writes) implements AutoCloseable {

        Topic(Workbench bench, String name, int messages) throws SQLException {
            this(bench, name, messages, new Writes(bench, name));
        }

        void publish() throws Exception {
            try (Installation installation = bench.install(name, true);
                    Crew publishers = installation.publishers(PublishAndConsume.PUBLISHERS, PublishAndConsume.BATCH)) {
                publishers.times(messages / PublishAndConsume.BATCH);
                Tally.require("published", messages, installation.appended());
            }
        }

        /** So many groups begin at the beginning, in an instance of their own. Returns what was written until all had all. */
        Writes.Total consume(int groups, String prefix) throws Exception {
            bench.settle();
            Writes.Total before = writes.total();
            try (Installation installation = bench.install(name, true)) {
                List<CountedGroup> all = new ArrayList<>();
                for (int i = 0; i < groups; i++) {
                    all.add(new CountedGroup(installation.trunkline(), prefix + i)
                            .start(SubscriptionOptions.fromBeginning()));
                }
                for (CountedGroup group : all) {
                    group.await(messages);
                    group.closeAt(messages);
                }
            }
            return writes.total().since(before);
        }

        @Override
        public void close() throws SQLException {
            writes.close();
        }
    }
}
