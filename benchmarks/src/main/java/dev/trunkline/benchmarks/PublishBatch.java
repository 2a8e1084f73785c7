package dev.trunkline.benchmarks;

import dev.trunkline.Message;
import java.util.List;
import java.util.function.Supplier;

/** Batches of 100 from two threads, against the faster of two raw multi-row inserts. */
final class PublishBatch implements Scenario {

    private static final int THREADS = 2;
    private static final int BATCH = 100;
    private static final String UNNEST = "insert … select from unnest(arrays)";
    private static final String REWRITE = "JDBC batch with reWriteBatchedInserts";

    @Override
    public String name() {
        return "publish-batch";
    }

    @Override
    public String summary() {
        return "publishAll of 100 messages from 2 threads, against raw multi-row inserts of 100 rows";
    }

    @Override
    public List<Result> run(Workbench bench) throws Exception {
        try (Installation installation = bench.install("batch", true);
                Crew unnest = unnest(bench, installation);
                Crew rewrite = rewrite(bench, installation);
                Crew keyed = publishers(installation, () -> Samples.keyed(BATCH));
                Crew unkeyed = publishers(installation, () -> Samples.unkeyed(BATCH))) {
            Contest.Turns turns = new Contest(bench, name())
                    .with(UNNEST, unnest::rate)
                    .with(REWRITE, rewrite::rate)
                    .with("keyed", keyed::rate)
                    .with("unkeyed", unkeyed::rate)
                    .run();
            String baseline = turns.faster(UNNEST, REWRITE);
            String slower = baseline.equals(UNNEST) ? REWRITE : UNNEST;
            return List.of(turns.compare(name(), "messages/s", "keyed", baseline, words(baseline), Target.atLeast(0.85))
                    .with("otherRawWay", slower)
                    .with("otherRawValue", Numbers.median(turns.of(slower)))
                    .with("unkeyedValue", Numbers.median(turns.of("unkeyed")))
                    .with("unkeyedRatio", Numbers.median(turns.ratios("unkeyed", baseline))));
        }
    }

    private static String words(String way) {
        return "%s, %d rows a commit, %d connections, the faster of two raw ways".formatted(way, BATCH, THREADS);
    }

    private static Crew unnest(Workbench bench, Installation installation) throws Exception {
        installation.execute(installation.sql("createRows", "unnested"));
        String sql = installation.sql("insertUnnest", "unnested");
        return Crew.of(THREADS, () -> RawInsert.unnest(bench.address().connect(), sql, BATCH));
    }

    private static Crew rewrite(Workbench bench, Installation installation) throws Exception {
        installation.execute(installation.sql("createRows", "rewritten"));
        String sql = installation.sql("insertRow", "rewritten");
        return Crew.of(THREADS, () -> RawInsert.batch(bench.address().connectRewriting(), sql, BATCH));
    }

    private static Crew publishers(Installation installation, Supplier<List<Message>> batches) throws Exception {
        return Crew.of(
                THREADS,
                () -> () -> installation.publisher().publishAll(batches.get()).size());
    }
}
