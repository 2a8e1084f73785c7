package dev.trunkline.benchmarks;

import dev.trunkline.benchmarks.FanOutTurn.Seen;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/** Every message goes to each of many groups, at a steady rate, and is removed when all are done; against counting them by message. */
final class FanOut implements Scenario {

    static final int PUBLISHERS = 2;
    static final int BATCH = 100;

    private static final int MOST_REPETITIONS = 2;
    private static final double MOST_DEAD_PERCENT = 20;
    private static final double MOST_FETCH_MILLIS = 10;
    private static final double MOST_GROWTH = 1.5;
    private static final String TRUNKLINE = "trunkline";
    private static final String COUNTS = "counts";

    @Override
    public String name() {
        return "fan-out";
    }

    @Override
    public String summary() {
        return "messages at a steady rate for 4, 16, 64 and 100 groups, with cleanup: dead rows, fetches, WAL; against reference counts";
    }

    @Override
    public List<Result> run(Workbench bench) throws Exception {
        List<Result> results = new ArrayList<>();
        for (int groups : bench.effort().fanOut().groups()) {
            results.add(contest(bench, groups));
        }
        return results;
    }

    private Result contest(Workbench bench, int groups) throws Exception {
        Effort.Load load = bench.effort().fanOut();
        Workbench turns = bench.lasting(load.seconds()).atMost(MOST_REPETITIONS);
        String scenario = "%s-%d".formatted(name(), groups);
        Side trunkline = new Side(turns, load.perSecond(), groups, () -> new LogGroups(turns, groups));
        Side counts = new Side(turns, load.perSecond(), groups, () -> new ReferenceCounts(turns, groups));
        Result result = new Contest(turns, scenario)
                .with(TRUNKLINE, trunkline::turn)
                .with(COUNTS, counts::turn)
                .run()
                .compare(
                        scenario,
                        "messages/s handled, by all groups together",
                        TRUNKLINE,
                        COUNTS,
                        ReferenceCounts.WORDS,
                        new Target(
                                "> 1, or both keep up", ratio -> ratio > 1 || (trunkline.keptUp() && counts.keptUp())));
        return counts.describe(
                        trunkline
                                .describe(result, "")
                                .requiring("meetsThresholds", trunkline.misses().isEmpty()),
                        "ofCounts")
                .with("ofCountsMisses", counts.misses())
                .with("messagesPerSecond", load.perSecond())
                .with("seconds", load.seconds())
                .with("retentionMillis", ManyGroups.KEPT.toMillis());
    }

    /** Opens one side. */
    @FunctionalInterface
    private interface Opening {
        ManyGroups open() throws Exception;
    }

    /** What was seen of one side, turn by turn, each on new tables. */
    private static final class Side {
        private final Workbench bench;
        private final int perSecond;
        private final int groups;
        private final Opening opening;
        private final List<Seen> all = new ArrayList<>();

        Side(Workbench bench, int perSecond, int groups, Opening opening) {
            this.bench = bench;
            this.perSecond = perSecond;
            this.groups = groups;
            this.opening = opening;
        }

        double turn(double seconds) throws Exception {
            try (ManyGroups side = opening.open()) {
                Seen seen = new FanOutTurn(bench, side, groups, perSecond, seconds).run();
                all.add(seen);
                return seen.handled();
            }
        }

        /** Without the warm-up. */
        private List<Seen> turns() {
            return all.subList(1, all.size());
        }

        private double median(ToDoubleFunction<Seen> figure) {
            return Numbers.median(turns().stream().mapToDouble(figure).toArray());
        }

        boolean keptUp() {
            return turns().stream().allMatch(Seen::keptUp);
        }

        private double deadPercent() {
            return median(seen -> seen.deadest().percent());
        }

        /** The thresholds that it does not meet. */
        List<String> misses() {
            List<String> misses = new ArrayList<>();
            if (!keptUp()) {
                misses.add("keeps up");
            }
            if (deadPercent() >= MOST_DEAD_PERCENT) {
                misses.add("dead rows < %.0f %%".formatted(MOST_DEAD_PERCENT));
            }
            if (median(Seen::fetchMillis) >= MOST_FETCH_MILLIS) {
                misses.add("fetch p95 < %.0f ms".formatted(MOST_FETCH_MILLIS));
            }
            if (median(Seen::growth) > MOST_GROWTH) {
                misses.add("growth <= %.1f".formatted(MOST_GROWTH));
            }
            return misses;
        }

        Result describe(Result result, String whose) {
            Function<String, String> name = figure ->
                    whose.isEmpty() ? figure : whose + Character.toUpperCase(figure.charAt(0)) + figure.substring(1);
            return result.with(name.apply("keptUp"), keptUp())
                    .with(name.apply("secondsBehind"), median(Seen::late))
                    .with(name.apply("deadPercent"), deadPercent())
                    .with(name.apply("deadest"), turns().getLast().deadest().table())
                    .with(name.apply("fetchP95Millis"), median(Seen::fetchMillis))
                    .with(name.apply("fetchesPerSecond"), median(Seen::fetchesPerSecond))
                    .with(name.apply("growth"), median(Seen::growth))
                    .with(name.apply("mostBytes"), median(Seen::bytes))
                    .with(name.apply("walBytesPerSecond"), median(Seen::walPerSecond))
                    .with(name.apply("walBytesPerMessageAndGroup"), median(Seen::walPerHandled));
        }
    }
}
