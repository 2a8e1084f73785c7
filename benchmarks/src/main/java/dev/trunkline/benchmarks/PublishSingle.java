package dev.trunkline.benchmarks;

import java.util.List;

/** Callers that each wait for their own message to be durable, against as many single-row commits as connections allow. */
final class PublishSingle implements Scenario {

    private static final int CONNECTIONS = 32;
    private static final int CROWD = 256;

    @Override
    public String name() {
        return "publish-single";
    }

    @Override
    public String summary() {
        return "publish of one message from 32 and 256 threads, against raw single-row inserts by 32 connections";
    }

    @Override
    public List<Result> run(Workbench bench) throws Exception {
        try (Installation installation = bench.install("single", true);
                Crew raw = raw(bench, installation);
                Crew few = publishers(installation, CONNECTIONS);
                Crew many = publishers(installation, CROWD)) {
            Contest.Turns turns = new Contest(bench, name())
                    .with("raw", raw::rate)
                    .with("few", few::rate)
                    .with("many", many::rate)
                    .run();
            return List.of(
                    compare(turns, "few", CONNECTIONS, Target.atLeast(2)),
                    compare(turns, "many", CROWD, Target.atLeast(6)));
        }
    }

    private Result compare(Contest.Turns turns, String side, int threads, Target target) {
        String words = "prepared single-row insert, autocommit, %d connections, one thread each".formatted(CONNECTIONS);
        return turns.compare(name() + "-" + threads, "messages/s", side, "raw", words, target)
                .with("threads", threads);
    }

    private static Crew raw(Workbench bench, Installation installation) throws Exception {
        installation.execute(installation.sql("createRows", "single"));
        String sql = installation.sql("insertRow", "single");
        return Crew.of(CONNECTIONS, () -> RawInsert.single(bench.address().connect(), sql));
    }

    private static Crew publishers(Installation installation, int threads) throws Exception {
        return Crew.of(threads, () -> () -> {
            installation.publisher().publish(Samples.keyed());
            return 1;
        });
    }
}
