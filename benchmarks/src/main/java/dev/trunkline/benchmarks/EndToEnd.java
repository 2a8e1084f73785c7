package dev.trunkline.benchmarks;

import java.util.List;

/** Publishing and consuming at the same time, against a textbook queue that does the same. */
final class EndToEnd implements Scenario {

    private static final String TRUNKLINE = "trunkline";
    private static final String QUEUE = "queue";

    @Override
    public String name() {
        return "end-to-end";
    }

    @Override
    public String summary() {
        return "2 publishers of batches of 100 and one group, until all is handled; against a textbook queue";
    }

    @Override
    public List<Result> run(Workbench bench) throws Exception {
        try (Installation installation = bench.install("end_to_end", true);
                PublishAndConsume trunkline = new PublishAndConsume(installation);
                TextbookQueue queue = new TextbookQueue(bench)) {
            return List.of(new Contest(bench, name())
                    .with(TRUNKLINE, trunkline::rate)
                    .with(QUEUE, queue::putAndTake)
                    .run()
                    .compare(
                            name(),
                            "messages/s published and handled",
                            TRUNKLINE,
                            QUEUE,
                            "insert of 100 rows a commit, 2 connections; beside it " + TextbookQueue.WORDS,
                            Target.atLeast(5)));
        }
    }
}
