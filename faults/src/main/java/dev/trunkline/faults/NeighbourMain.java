package dev.trunkline.faults;

import dev.trunkline.TopicPattern;
import dev.trunkline.Trunkline;
import dev.trunkline.checker.Journal;
import java.nio.file.Path;

/** A process that hears a whole street of topics, noisy and quiet ones. */
final class NeighbourMain {

    static final String GROUP = "neighbours";

    private NeighbourMain() {}

    /**
     * Consumes.
     *
     * @param arguments the directory of journals, its name
     */
    public static void main(String[] arguments) throws Exception {
        Path journals = Path.of(arguments[0]);
        String name = arguments[1];
        try (Journal journal = Journal.create(journals, name);
                Trunkline trunkline = Address.ofEnvironment().open()) {
            Handlers handlers = new Handlers(journal, journals, name).steady();
            trunkline
                    .createConsumerGroup(
                            GROUP,
                            TopicPattern.name(NeighbourFaults.PREFIX + "*"),
                            Value.class,
                            group -> group.addConsumer("c", delivery -> {
                                if (delivery.attempt() == 1 && NeighbourFaults.isStumblingBlock(delivery.payload())) {
                                    throw new IllegalStateException("the hot key fails once, and all of it waits");
                                }
                                handlers.handle(delivery);
                            }))
                    .start(ConsumerMain.Patience.USUAL.options());
            Crowd.sayStarted();
            Crowd.awaitStop();
        }
    }
}
