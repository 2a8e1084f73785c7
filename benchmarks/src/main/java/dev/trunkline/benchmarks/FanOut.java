package dev.trunkline.benchmarks;

import dev.trunkline.benchmarks.FanOutTurn.Seen;
import dev.trunkline.benchmarks.peer.ReferenceCounts;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** Every message goes to each of many groups, at a steady rate, and is removed when all are done; against counting them by message. */
final class FanOut implements Scenario {

    static final int PUBLISHERS = 2;
    static final int BATCH = 100;

    private static final int MOST_REPETITIONS = 2;
    private static final double MOST_DEAD_PERCENT = 20;
    private static final double MOST_FETCH_MILLIS = 10;
    /** What nobody removes grows by two thirds. */
    private static final double MOST_GROWTH = 1.5;

    private static final double MOST_SECONDS_BEHIND = 0.25;
    private static final String TRUNKLINE = "trunkline";
    private static final String COUNTS = "counts";

    @Override
    public String name() {
        return "fan-out";
    }

    @Override
    public String summary() {
        return "messages at a steady rate for 4 to 100 groups, with cleanup: handled, dead rows, fetches, WAL; against reference counts";
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
        Duration kept = FanOutTurn.kept(load.seconds());
        String scenario = "%s-%d".formatted(name(), groups);
        Side trunkline = new Side(turns, load.perSecond(), groups, () -> new LogGroups(turns, groups, kept));
        Side counts = new Side(turns, load.perSecond(), groups, () -> new CountedMessages(turns, groups, kept));
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
        return result.requiring("meetsThresholds", trunkline.misses().isEmpty())
                .with("messagesPerSecond", load.perSecond())
                .with("seconds", load.seconds())
                .with("retentionMillis", kept.toMillis())
                .with(TRUNKLINE, trunkline.figures())
                .with(COUNTS, counts.figures());
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
            return Result.digits(
                    Numbers.median(turns().stream().mapToDouble(figure).toArray()));
        }

        boolean keptUp() {
            return median(Seen::behind) <= MOST_SECONDS_BEHIND;
        }

        /** The thresholds that it does not meet. */
        List<String> misses() {
            Map<String, Boolean> thresholds = new LinkedHashMap<>();
            thresholds.put("keeps up with publishing", keptUp());
            thresholds.put("less than 20 % dead rows", deadPercent() < MOST_DEAD_PERCENT);
            thresholds.put("fetch p95 below 10 ms", median(Seen::fetchMillis) < MOST_FETCH_MILLIS);
            thresholds.put("cleanup keeps up", median(Seen::growth) <= MOST_GROWTH);
            return thresholds.keySet().stream()
                    .filter(threshold -> !thresholds.getOrDefault(threshold, false))
                    .toList();
        }

        private double deadPercent() {
            return median(seen -> seen.deadest().percent());
        }

        Map<String, Object> figures() {
            Map<String, Object> figures = new LinkedHashMap<>();
            figures.put("misses", misses());
            figures.put("secondsBehind", median(Seen::behind));
            figures.put("deadPercent", deadPercent());
            figures.put("deadest", turns().getLast().deadest().table());
            figures.put("fetchP95Millis", median(Seen::fetchMillis));
            figures.put("fetchP95MillisAtClient", median(Seen::clientMillis));
            figures.put("fetchesPerSecond", median(Seen::fetchesPerSecond));
            figures.put("growthOfKeptMessages", median(Seen::growth));
            figures.put("mostBytes", median(Seen::bytes));
            figures.put("walBytesPerSecond", median(Seen::walPerSecond));
            figures.put("walBytesPerMessageAndGroup", median(Seen::walPerHandled));
            return figures;
        }
    }
}
