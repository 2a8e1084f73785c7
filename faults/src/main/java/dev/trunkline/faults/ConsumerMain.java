package dev.trunkline.faults;

import dev.trunkline.RetryPolicy;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.Trunkline;
import dev.trunkline.checker.Journal;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** A process that consumes as all groups until its input ends or says so. */
final class ConsumerMain {

    private ConsumerMain() {}

    /**
     * What it puts up with.
     *
     * @param attempts before a message is given up
     * @param handlerTimeout after which a handler is interrupted
     */
    record Patience(int attempts, Duration handlerTimeout) {

        /** No fault lasts that long. */
        static final Patience USUAL = new Patience(10_000, Duration.ofMinutes(1));

        List<String> arguments() {
            return List.of("" + attempts, handlerTimeout.toString());
        }

        static Patience of(List<String> arguments) {
            return new Patience(Integer.parseInt(arguments.get(0)), Duration.parse(arguments.get(1)));
        }

        SubscriptionOptions options() {
            return SubscriptionOptions.fromBeginning()
                    .withRetry(new RetryPolicy(attempts, Duration.ofMillis(5), Duration.ofMillis(200)))
                    .withHandlerTimeout(handlerTimeout);
        }
    }

    /**
     * Consumes.
     *
     * @param arguments the directory of journals, its name, its patience
     */
    public static void main(String[] arguments) throws Exception {
        Path journals = Path.of(arguments[0]);
        String name = arguments[1];
        Patience patience = Patience.of(List.of(arguments).subList(2, arguments.length));
        try (Journal journal = Journal.create(journals, name);
                Trunkline trunkline = Address.ofEnvironment().open()) {
            start(trunkline, new Handlers(journal, journals, name), patience.options());
            Crowd.sayStarted();
            Crowd.awaitStop();
        }
    }

    private static void start(Trunkline trunkline, Handlers handlers, SubscriptionOptions options) {
        for (String topic : Workload.TOPICS) {
            trunkline
                    .createConsumerGroup(Workload.PLAIN, topic, Value.class)
                    .addConsumer("c", handlers::handle)
                    .start(options);
        }
        trunkline
                .createConsumerGroup(Workload.EFFECTS, Workload.ORDERS, Value.class)
                .addTransactionalConsumer("c", handlers::handle)
                .start(options);
    }
}
