package dev.trunkline.benchmarks;

import java.util.List;

/** Publishing and consuming at the same time, against a textbook queue that does the same. */
final class EndToEnd implements Scenario {

    private static final int CROWD = 256;
    private static final int CONNECTIONS = 32;
    private static final int LOADERS = 8;
    private static final int BATCH = 100;
    private static final String TRUNKLINE = "trunkline";
    private static final String QUEUE = "queue";

    @Override
    public String name() {
        return "end-to-end";
    }

    @Override
    public String summary() {
        return "256 publishers of single messages, or 8 of batches, and one group, until all is handled; against a textbook queue";
    }

    @Override
    public List<Result> run(Workbench bench) throws Exception {
        return List.of(
                race(bench, name(), CROWD, CONNECTIONS, 1), race(bench, name() + "-batch", LOADERS, LOADERS, BATCH));
    }

    private Result race(Workbench bench, String scenario, int publishers, int connections, int batch) throws Exception {
        try (Installation installation = bench.install("end_to_end_" + batch, true);
                PublishAndConsume trunkline = new PublishAndConsume(installation, publishers, batch);
                TextbookQueue queue = new TextbookQueue(bench, connections, batch)) {
            return new Contest(bench, scenario)
                    .with(TRUNKLINE, trunkline::rate)
                    .with(QUEUE, queue::putAndTake)
                    .run()
                    .compare(
                            scenario,
                            "messages/s published and handled",
                            TRUNKLINE,
                            QUEUE,
                            "insert, %d rows a commit, %d connections; beside it %s"
                                    .formatted(batch, connections, TextbookQueue.WORDS),
                            Target.atLeast(5))
                    .with("publishers", publishers);
        }
    }
}
