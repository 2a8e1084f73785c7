package dev.trunkline.benchmarks;

import dev.trunkline.SubscriptionOptions;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;

/** One way to catch up, beside others' transactions. Each of its turns follows one of the transactions alone. */
final class BesideOltp {

    private final String name;
    private final Encounter encounter;
    private final SubscriptionOptions options;
    private final double lead;
    private final List<Double> rates = new ArrayList<>();
    private List<Long> curve = List.of();
    private boolean historyLasted = true;
    private boolean asManyTransactions = true;

    /** @param lead seconds until it goes as fast as it may, which do not count */
    BesideOltp(String name, Encounter encounter, SubscriptionOptions options, double lead) {
        this.name = name;
        this.encounter = encounter;
        this.options = options;
        this.lead = lead;
    }

    void enter(Contest contest) {
        contest.with(alone(), seconds -> p95(encounter.alone(lead, seconds), seconds))
                .with(name, this::turn);
    }

    private String alone() {
        return "alone before " + name;
    }

    private double turn(double seconds) {
        Encounter.Seen seen = encounter.together(options, lead, seconds);
        CatchingUp group = seen.group();
        rates.add(group.rate(lead, lead + seconds));
        curve = group.curve();
        historyLasted &= group.isRunning();
        return p95(seen.transactions(), seconds);
    }

    private double p95(Windows transactions, double seconds) {
        Histogram latencies = transactions.histograms().getLast();
        asManyTransactions &= Math.abs(latencies.getTotalCount() - Oltp.PACE.perSecond() * seconds) <= 1;
        return Pace.millis(latencies, 95);
    }

    /** Whether no turn came to the end of the history. */
    boolean historyLasted() {
        return historyLasted;
    }

    Result result(Contest.Turns turns, String scenario, Target target) {
        int counted = turns.of(name).length;
        return turns.compare(
                        scenario,
                        "ms, p95 of transactions, counted from when each was due",
                        name,
                        alone(),
                        "the same transactions while no group catches up, by turns",
                        target)
                .requiring("asManyTransactions", asManyTransactions)
                .with(
                        "messagesPerSecond",
                        Numbers.median(Numbers.array(rates.subList(rates.size() - counted, rates.size()))))
                .with("lastTurnSecondBySecond", curve)
                .with("leadSeconds", lead);
    }
}
