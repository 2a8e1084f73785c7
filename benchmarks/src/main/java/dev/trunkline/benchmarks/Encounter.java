package dev.trunkline.benchmarks;

import dev.trunkline.SubscriptionOptions;
import java.util.concurrent.CompletableFuture;
import org.HdrHistogram.Histogram;

/** Others' transactions in a database, and new groups that catch up there. */
final class Encounter {

    private final Installation installation;
    private final Oltp oltp;
    private int groups;

    Encounter(Installation installation, Oltp oltp) {
        this.installation = installation;
        this.oltp = oltp;
    }

    /** What was seen of both. */
    record Seen(Histogram latencies, CatchingUp catchingUp) {}

    Oltp oltp() {
        return oltp;
    }

    /** The transactions alone; those that are due within the lead do not count. */
    Histogram alone(double lead, double seconds) {
        return oltp.start(System.nanoTime(), lead, seconds).join();
    }

    /** The transactions while a new group catches up from the beginning of the lead on. */
    Seen together(SubscriptionOptions options, double lead, double seconds) {
        groups++;
        long began = System.nanoTime();
        CompletableFuture<Histogram> transactions = oltp.start(began, lead, seconds);
        try (CatchingUp group = new CatchingUp(installation.trunkline(), "late-" + groups, options, began)) {
            group.watch(lead + seconds);
            return new Seen(transactions.join(), group);
        }
    }
}
