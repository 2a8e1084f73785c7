package dev.trunkline.benchmarks;

import dev.trunkline.BackfillConfiguration;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.Trunkline;
import dev.trunkline.benchmarks.database.Address;
import java.time.Duration;

/** The program of a {@link GroupProcess}: it serves its group until its input ends. */
final class GroupProcessMain {

    static final String SCHEMA = "TRUNKLINE_BENCH_SCHEMA";
    static final String GROUP = "mortal";
    /** The most messages that it takes of what it has missed. */
    static final int BOUND = 500;

    private static final Duration LEASE = Duration.ofSeconds(2);
    private static final Duration DEAD_AFTER = Duration.ofSeconds(1);

    private GroupProcessMain() {}

    public static void main(String[] arguments) throws Exception {
        Address address = Address.fromEnvironment();
        SubscriptionOptions options = SubscriptionOptions.fromNow()
                .withDeadAfter(DEAD_AFTER)
                .withBackfill(BackfillConfiguration.conservative().withMaxMessages(BOUND));
        try (Trunkline trunkline = Trunkline.builder()
                        .url(address.url(), address.user(), address.password())
                        .schema(System.getenv(SCHEMA))
                        .backgroundWork(false)
                        .lease(LEASE)
                        .open();
                CountedGroup group = new CountedGroup(trunkline, GROUP)) {
            group.start(options);
            while (System.in.read() >= 0) {
                // only the end counts
            }
        }
    }
}
