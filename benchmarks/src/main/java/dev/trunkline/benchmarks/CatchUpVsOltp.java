package dev.trunkline.benchmarks;

import dev.trunkline.BackfillConfiguration;
import dev.trunkline.SubscriptionOptions;
import java.util.List;
import java.util.stream.Stream;

/** Transactions of others while a new group catches up with a long history, against the same while none does. */
final class CatchUpVsOltp implements Scenario {

    @Override
    public String name() {
        return "catch-up-vs-oltp";
    }

    @Override
    public String summary() {
        return "p95 of others' transactions while a new group catches up, against while none does; and how it gives way";
    }

    @Override
    public List<Result> run(Workbench bench) throws Exception {
        int messages = bench.effort().amounts().consumeMessages();
        try (Installation installation = bench.install("catch_up", true)) {
            bench.progress("%s: publishing %d messages".formatted(name(), messages));
            installation.publish(messages);
            Teller.prepare(installation);
            try (Oltp oltp = new Oltp(bench.address())) {
                List<Result> results = results(bench, new Encounter(installation, oltp), messages);
                boolean exact = oltp.isExact();
                return results.stream()
                        .map(result -> result.requiring("countIsExact", exact)
                                .with("messages", messages)
                                .with("transactionsPerSecond", Oltp.PACE.perSecond()))
                        .toList();
            }
        }
    }

    private List<Result> results(Workbench bench, Encounter encounter, int messages) throws Exception {
        double warmUp = bench.effort().warmUp();
        // A pace begins with a tenth: what counts is what it comes to.
        BesideOltp conservative = new BesideOltp(
                "conservative", encounter, paced(BackfillConfiguration.conservative(), messages), 2 * warmUp);
        BesideOltp aggressive =
                new BesideOltp("aggressive", encounter, paced(BackfillConfiguration.aggressive(), messages), warmUp);
        BesideOltp unpaced = new BesideOltp("unpaced", encounter, SubscriptionOptions.fromBeginning(), 0);
        Contest contest = new Contest(bench, name());
        Stream.of(conservative, aggressive, unpaced).forEach(side -> side.enter(contest));
        Contest.Turns turns = contest.run();
        return List.of(
                conservative
                        .result(turns, name(), Target.atMost(2, "while it catches up / while none does"))
                        .requiring("historyLasted", conservative.historyLasted()),
                aggressive
                        .result(turns, name() + "-aggressive", Target.none())
                        .with("historyLasted", aggressive.historyLasted()),
                unpaced.result(turns, name() + "-unpaced", Target.none())
                        .with("historyLasted", unpaced.historyLasted()),
                new Throttle(encounter, paced(BackfillConfiguration.conservative(), messages))
                        .run(bench.atMost(3), name() + "-throttle"));
    }

    private static SubscriptionOptions paced(BackfillConfiguration pace, int messages) {
        return SubscriptionOptions.fromBeginning(pace.withMaxMessages(messages));
    }
}
