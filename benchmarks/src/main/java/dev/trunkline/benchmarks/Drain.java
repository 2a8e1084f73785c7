package dev.trunkline.benchmarks;

import java.util.concurrent.TimeUnit;

/** Waits for the relay of the background. */
final class Drain {

    private static final long PATIENCE = TimeUnit.MINUTES.toNanos(2);

    private Drain() {}

    /** The milliseconds until the log holds so many messages. */
    static double await(Installation installation, long messages) throws InterruptedException {
        long began = System.nanoTime();
        for (long appended = installation.appended(); appended < messages; appended = installation.appended()) {
            if (System.nanoTime() - began > PATIENCE) {
                throw new IllegalStateException(
                        "the relay has appended %d of %d messages after two minutes: is it alive?"
                                .formatted(appended, messages));
            }
            Thread.sleep(2);
        }
        return (System.nanoTime() - began) / 1e6;
    }
}
