package dev.trunkline.benchmarks;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Counts what many threads do, and lets one wait until it is enough. */
final class Tally {

    private static final int PATIENCE_MINUTES = 10;

    private final String what;
    private final AtomicLong count = new AtomicLong();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition enough = lock.newCondition();
    private volatile long goal = Long.MAX_VALUE;

    Tally(String what) {
        this.what = what;
    }

    void add() {
        if (count.incrementAndGet() == goal) {
            lock.lock();
            try {
                enough.signalAll();
            } finally {
                lock.unlock();
            }
        }
    }

    /** Waits until it has counted so many. */
    void await(long newGoal) throws InterruptedException {
        lock.lock();
        try {
            goal = newGoal;
            long left = TimeUnit.MINUTES.toNanos(PATIENCE_MINUTES);
            while (count.get() < newGoal) {
                if (left <= 0) {
                    throw new IllegalStateException("%d of %d messages were %s after %d minutes"
                            .formatted(count.get(), newGoal, what, PATIENCE_MINUTES));
                }
                left = enough.awaitNanos(left);
            }
        } finally {
            lock.unlock();
        }
    }

    long count() {
        return count.get();
    }

    /** Fails unless it has counted just so many. */
    void require(long expected) {
        require(what, expected, count.get());
    }

    static void require(String what, long expected, long actual) {
        if (expected != actual) {
            throw new IllegalStateException("%d messages were %s, not %d".formatted(actual, what, expected));
        }
    }
}
