package dev.trunkline.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/**
 * Threads that act at set times, whatever became of the last time. A latency counts from the time at which something should have
 * been done, so that a stall is seen by all that it delayed.
 *
 * @param threads that take turns
 * @param perSecond how often all of them together act
 */
record Pace(int threads, double perSecond) {

    private static final long LONGEST_MICROS = 600_000_000;

    /** What is done at a time. */
    @FunctionalInterface
    interface Act {
        /** Does it, and returns how many units that were. */
        long at(long due) throws Exception;
    }

    static Histogram latencies() {
        return new ConcurrentHistogram(LONGEST_MICROS, 3);
    }

    /** Records what something took that was due then and is over now. */
    static void record(Histogram latencies, long due) {
        latencies.recordValue((System.nanoTime() - due) / 1_000);
    }

    static double millis(Histogram latencies, double percentile) {
        return latencies.getValueAtPercentile(percentile) / 1e3;
    }

    /** Acts for so long, and returns the units. */
    long keep(double seconds, Act act) {
        return keep(System.nanoTime(), seconds, act);
    }

    /** Acts for so long from a time on, and returns the units. */
    long keep(long began, double seconds, Act act) {
        try (var executor = Executors.newThreadPerTaskExecutor(
                Thread.ofPlatform().name("paced-", 0).factory())) {
            List<CompletableFuture<Long>> all = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                int first = i;
                all.add(CompletableFuture.supplyAsync(() -> keep(began, seconds, first, act), executor));
            }
            return all.stream().mapToLong(CompletableFuture::join).sum();
        }
    }

    private long keep(long began, double seconds, int first, Act act) {
        long units = 0;
        long interval = (long) (1e9 / perSecond);
        long end = began + (long) (seconds * 1e9);
        for (long due = began + first * interval; due - end < 0; due += threads * interval) {
            sleepUntil(due);
            try {
                units += act.at(due);
            } catch (Exception e) {
                throw new CompletionException(e);
            }
        }
        return units;
    }

    static void sleepUntil(long nanoTime) {
        for (long left = nanoTime - System.nanoTime(); left > 0; left = nanoTime - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }
}
