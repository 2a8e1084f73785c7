package dev.trunkline.benchmarks;

import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;

/** From a publish call to the handler at half of the load that this process can bear: the slow ones against the median. */
final class LatencyLoaded implements Scenario {

    private static final String MOST = "most";
    private static final String HALF = "half";

    @Override
    public String name() {
        return "latency-loaded";
    }

    @Override
    public String summary() {
        return "publish to handler at half of the most that end-to-end reaches in the same run: p99 against the median";
    }

    @Override
    public List<Result> run(Workbench bench) throws Exception {
        try (Installation free = bench.install("latency_most", true);
                Installation paced = bench.install("latency_half", true);
                PublishAndConsume most = new PublishAndConsume(free);
                TimedMessages half = new TimedMessages(paced.trunkline(), paced.trunkline())) {
            Load load = new Load(half);
            Contest.Turns turns = new Contest(bench, name())
                    .with(MOST, seconds -> load.most = most.rate(seconds))
                    .with(HALF, load::p99)
                    .run();
            double[] medians = load.mediansOfLast(turns.of(HALF).length);
            return List.of(Result.of(
                            name(),
                            "ms, p99",
                            turns.of(HALF),
                            "the median of the same messages, batches of %d, counted from when each was due"
                                    .formatted(PublishAndConsume.BATCH),
                            medians,
                            Numbers.ratios(turns.of(HALF), medians),
                            Target.atMost(20, "p99 / median"))
                    .with("mostMessagesPerSecond", Numbers.median(turns.of(MOST)))
                    .with("messagesPerSecond", Numbers.median(turns.of(MOST)) / 2)
                    .with("maxMillis", load.max));
        }
    }

    /** Half of the last most. */
    private static final class Load {
        private final TimedMessages messages;
        private final List<Double> medians = new ArrayList<>();
        private double most;
        private double max;

        Load(TimedMessages messages) {
            this.messages = messages;
        }

        double p99(double seconds) throws InterruptedException {
            Pace pace = new Pace(PublishAndConsume.PUBLISHERS, most / 2 / PublishAndConsume.BATCH);
            Histogram latencies = messages.inBatches(PublishAndConsume.BATCH, pace, seconds);
            medians.add(Pace.millis(latencies, 50));
            max = Math.max(max, Pace.millis(latencies, 100));
            return Pace.millis(latencies, 99);
        }

        /** Without those of the warm-up. */
        double[] mediansOfLast(int turns) {
            return Numbers.array(medians.subList(medians.size() - turns, medians.size()));
        }
    }
}
