package dev.trunkline.benchmarks;

import dev.trunkline.benchmarks.database.Query;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** A business row and a message in one transaction, with the relay at work, against a plain outbox insert. */
final class PublishTransactional implements Scenario {

    private static final int CONNECTIONS = 32;

    @Override
    public String name() {
        return "publish-transactional";
    }

    @Override
    public String summary() {
        return "a business row and a message in one transaction over 32 connections, against a plain second insert";
    }

    @Override
    public List<Result> run(Workbench bench) throws Exception {
        try (Installation installation = bench.install("transactional", true)) {
            BusinessTransactions.prepare(installation);
            try (Crew raw = Crew.of(
                            CONNECTIONS,
                            () -> BusinessTransactions.inserting(bench.address().connect(), installation));
                    Crew publishing = Crew.of(
                            CONNECTIONS,
                            () -> BusinessTransactions.publishing(
                                    bench.address().connect(), installation))) {
                List<Double> drains = new ArrayList<>();
                Contest.Turns turns = new Contest(bench, name())
                        .with("raw", raw::rate)
                        .with("publishing", seconds -> {
                            double rate = publishing.rate(seconds);
                            drains.add(Drain.await(installation, businessRows(bench, installation)));
                            return rate;
                        })
                        .run();
                long rows = businessRows(bench, installation);
                long messages = installation.count();
                return List.of(
                        turns.compare(name(), "transactions/s", "publishing", "raw", words(), Target.atLeast(0.80))
                                .with("drainMillis", Numbers.median(Numbers.array(drains)))
                                .with("drainMillisMax", Numbers.max(Numbers.array(drains)))
                                .with("businessRows", rows)
                                .with("messagesInLog", messages)
                                .requiring("logIsExact", messages == rows));
            }
        }
    }

    private static String words() {
        return "the same business row and a prepared insert of the same columns into a table with a bigint primary key, "
                + CONNECTIONS + " connections";
    }

    private static long businessRows(Workbench bench, Installation installation) throws SQLException {
        try (Connection connection = bench.address().connect()) {
            return Query.number(connection, installation.sql("countBusiness", "published"));
        }
    }
}
