package dev.trunkline.benchmarks;

import java.util.Arrays;
import java.util.List;
import org.HdrHistogram.Histogram;

/** From a publish call to the handler while nothing else goes on, against the least that this takes: a commit and a NOTIFY. */
final class Latency implements Scenario {

    private static final Pace PACE = new Pace(1, 200);
    private static final String COMMIT = "commit";
    private static final String NOTIFY = "notify";
    private static final String HERE = "here";
    private static final String THERE = "there";

    @Override
    public String name() {
        return "latency";
    }

    @Override
    public String summary() {
        return "publish to handler in another instance at 200 messages/s, against a bare commit and a bare NOTIFY";
    }

    @Override
    public List<Result> run(Workbench bench) throws Exception {
        try (Installation here = bench.install("latency_here", true);
                Installation from = bench.install("latency_there", true);
                Installation to = bench.install("latency_there", true);
                TimedMessages toItself = new TimedMessages(here.trunkline(), here.trunkline());
                TimedMessages toAnother = new TimedMessages(from.trunkline(), to.trunkline());
                BareNotify notify = new BareNotify(bench.address());
                Crew.Worker commit = commit(bench, here)) {
            Contest.Turns turns = new Contest(bench, name())
                    .with(COMMIT, seconds -> median(bare(commit, seconds)))
                    .with(NOTIFY, seconds -> median(notify.send(PACE, seconds)))
                    .with(HERE, seconds -> median(toItself.singly(PACE, seconds)))
                    .with(THERE, seconds -> median(toAnother.singly(PACE, seconds)))
                    .run();
            double[] least = sums(turns.of(COMMIT), turns.of(NOTIFY));
            return List.of(Result.of(
                            name(),
                            "ms, median, to a handler in another instance",
                            turns.of(THERE),
                            "commit of one inserted row + NOTIFY until LISTEN hears it, the sum of the medians at the same pace",
                            least,
                            Numbers.ratios(turns.of(THERE), least),
                            Target.atMost(2, "publish to handler / baseline"))
                    .with("commitMillis", Numbers.median(turns.of(COMMIT)))
                    .with("notifyMillis", Numbers.median(turns.of(NOTIFY)))
                    .with("sameInstanceMillis", Numbers.median(turns.of(HERE)))
                    .with("sameInstanceRatio", Numbers.median(Numbers.ratios(turns.of(HERE), least)))
                    .with("messagesPerSecond", PACE.perSecond()));
        }
    }

    private static Crew.Worker commit(Workbench bench, Installation installation) throws Exception {
        installation.execute(installation.sql("createRows", "committed"));
        return RawInsert.single(bench.address().connect(), installation.sql("insertRow", "committed"));
    }

    private static Histogram bare(Crew.Worker commit, double seconds) {
        Histogram latencies = Pace.latencies();
        PACE.keep(seconds, due -> {
            long rows = commit.work();
            Pace.record(latencies, due);
            return rows;
        });
        return latencies;
    }

    private static double median(Histogram latencies) {
        return Pace.millis(latencies, 50);
    }

    private static double[] sums(double[] some, double[] others) {
        double[] sums = new double[some.length];
        Arrays.setAll(sums, i -> some[i] + others[i]);
        return sums;
    }
}
