package dev.trunkline.benchmarks;

import dev.trunkline.SubscriptionOptions;
import java.util.concurrent.CompletableFuture;

/** Others' transactions in a database, and new groups that catch up there. */
final class Encounter {

    private final Installation installation;
    private final Oltp oltp;
    private int groups;

    Encounter(Installation installation, Oltp oltp) {
        this.installation = installation;
        this.oltp = oltp;
    }

    Oltp oltp() {
        return oltp;
    }

    /** The transactions alone. */
    Windows alone(double... seconds) {
        Windows windows = new Windows(System.nanoTime(), seconds);
        oltp.start(windows).join();
        return windows;
    }

    /** What was seen of the transactions, and of the group. */
    record Seen(Windows transactions, CatchingUp group) {}

    /** The transactions while a new group catches up from the beginning on. */
    Seen together(SubscriptionOptions options, double... seconds) {
        groups++;
        Windows windows = new Windows(System.nanoTime(), seconds);
        CompletableFuture<Void> transactions = oltp.start(windows);
        try (CatchingUp group = new CatchingUp(installation.trunkline(), "late-" + groups, options, windows.began())) {
            group.watch(windows.length());
            transactions.join();
            return new Seen(windows, group);
        }
    }
}
