package dev.trunkline.benchmarks;

import dev.trunkline.ConsumerGroup;
import dev.trunkline.Handler;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.Trunkline;

/** A group with one consumer, and how many messages that has handled. */
final class CountedGroup implements AutoCloseable {

    private final Tally handled = new Tally("handled");
    private final ConsumerGroup<byte[]> group;

    CountedGroup(Trunkline trunkline, String name, Handler<byte[]> handler) {
        this.group = trunkline
                .createConsumerGroup(name, Installation.TOPIC, byte[].class)
                .addConsumer("counted", delivery -> {
                    handler.handle(delivery);
                    handled.add();
                });
    }

    /** One that only counts. */
    CountedGroup(Trunkline trunkline, String name) {
        this(trunkline, name, delivery -> {});
    }

    CountedGroup start(SubscriptionOptions options) {
        group.start(options);
        return this;
    }

    /** How many messages were handled since the start. */
    long handled() {
        return handled.count();
    }

    /** Waits until so many messages were handled since the start. */
    void await(long messages) throws InterruptedException {
        handled.await(messages);
    }

    /** Closes it, and fails unless it has handled just so many messages. */
    void closeAt(long messages) {
        close();
        handled.require(messages);
    }

    @Override
    public void close() {
        group.close();
    }
}
