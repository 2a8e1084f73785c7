package dev.trunkline.faults;

import dev.trunkline.BackfillConfiguration;
import dev.trunkline.Handler;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.Trunkline;
import dev.trunkline.checker.Journal;
import java.nio.file.Path;
import java.time.Duration;

/** A process that hears the orders as a group of its own, which is dead soon after nobody serves it. */
final class GuestMain {

    /** After which time it is dead. */
    static final Duration DEAD_AFTER = Duration.ofSeconds(2);
    /** The most messages that it takes of what it has missed. */
    static final int BOUND = 1_000;
    /** What a guest is called with whose handler never gets anything done. */
    static final String STUCK = "stuck";

    private GuestMain() {}

    /**
     * Consumes.
     *
     * @param arguments the directory of journals, its name, its group, and {@link #STUCK} if it is
     */
    public static void main(String[] arguments) throws Exception {
        Path journals = Path.of(arguments[0]);
        String name = arguments[1];
        boolean stuck = arguments.length > 3 && arguments[3].equals(STUCK);
        SubscriptionOptions options = ConsumerMain.Patience.USUAL
                .options()
                .withDeadAfter(DEAD_AFTER)
                .withBackfill(BackfillConfiguration.standard().withMaxMessages(BOUND));
        try (Journal journal = Journal.create(journals, name);
                Trunkline trunkline = Address.ofEnvironment().open()) {
            Handlers handlers = new Handlers(journal, journals, name);
            Handler<Value> handler = stuck ? handlers::stick : handlers::handle;
            trunkline
                    .createConsumerGroup(arguments[2], Workload.ORDERS, Value.class)
                    .addConsumer("c", handler)
                    .start(options);
            Crowd.sayStarted();
            Crowd.awaitStop();
        }
    }
}
