package dev.trunkline.benchmarks;

import dev.trunkline.LogMessage;
import java.util.Arrays;
import java.util.BitSet;
import java.util.concurrent.locks.ReentrantLock;

/** Counts messages, but none of them twice. */
final class Distinct {

    private final ReentrantLock lock = new ReentrantLock();
    private final BitSet[] offsets = new BitSet[Samples.PARTITIONS];

    Distinct() {
        Arrays.setAll(offsets, partition -> new BitSet());
    }

    void add(LogMessage message) {
        lock.lock();
        try {
            offsets[message.partition()].set(Math.toIntExact(message.offset()));
        } finally {
            lock.unlock();
        }
    }

    long count() {
        lock.lock();
        try {
            return Arrays.stream(offsets).mapToLong(BitSet::cardinality).sum();
        } finally {
            lock.unlock();
        }
    }
}
