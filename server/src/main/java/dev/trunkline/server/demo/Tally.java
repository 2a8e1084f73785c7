package dev.trunkline.server.demo;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/** How far the demo is. */
final class Tally {

    private final long start = System.nanoTime();
    final LongAdder published = new LongAdder();
    final LongAdder read = new LongAdder();

    /** Nanoseconds since the demo began. */
    long now() {
        return System.nanoTime() - start;
    }

    long seconds() {
        return TimeUnit.NANOSECONDS.toSeconds(now());
    }

    long waiting() {
        return Math.max(0, published.sum() - read.sum());
    }
}
