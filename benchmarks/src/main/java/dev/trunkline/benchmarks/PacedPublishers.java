package dev.trunkline.benchmarks;

import dev.trunkline.Publisher;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/**
 * Publishers that send at set times, whatever became of the last message. A latency counts from the time at which the
 * message should have been sent, so that a stall is seen by all that it delayed.
 */
final class PacedPublishers {

    private static final int THREADS = 8;
    private static final long INTERVAL = 20_000_000;
    private static final long LONGEST_MICROS = 600_000_000;

    private final Publisher publisher;
    private final double[] windowEnds;
    private final List<Histogram> windows = new ArrayList<>();

    /** @param windows the lengths of the windows that follow each other, in seconds */
    PacedPublishers(Publisher publisher, double... windows) {
        this.publisher = publisher;
        this.windowEnds = new double[windows.length];
        double end = 0;
        for (int i = 0; i < windows.length; i++) {
            end += windows[i];
            windowEnds[i] = end;
            this.windows.add(new ConcurrentHistogram(LONGEST_MICROS, 3));
        }
    }

    static int perSecond() {
        return (int) (THREADS * 1_000_000_000L / INTERVAL);
    }

    /** Publishes through all windows; meanwhile does something, at that second. Returns the latencies of the windows. */
    List<Histogram> run(double at, Runnable meanwhile) {
        long began = System.nanoTime();
        try (var executor = Executors.newThreadPerTaskExecutor(
                Thread.ofPlatform().name("paced-", 0).factory())) {
            List<CompletableFuture<Void>> all = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                long first = began + i * INTERVAL / THREADS;
                all.add(CompletableFuture.runAsync(() -> publish(began, first), executor));
            }
            all.add(CompletableFuture.runAsync(
                    () -> {
                        sleepUntil(began + (long) (at * 1e9));
                        meanwhile.run();
                    },
                    executor));
            all.forEach(CompletableFuture::join);
        }
        return windows;
    }

    private void publish(long began, long first) {
        for (long due = first; seconds(due - began) < windowEnds[windowEnds.length - 1]; due += INTERVAL) {
            sleepUntil(due);
            publisher.publish(Samples.keyed());
            windows.get(window(seconds(due - began))).recordValue((System.nanoTime() - due) / 1_000);
        }
    }

    private int window(double second) {
        int window = 0;
        while (second >= windowEnds[window]) {
            window++;
        }
        return window;
    }

    private static double seconds(long nanos) {
        return nanos / 1e9;
    }

    private static void sleepUntil(long nanoTime) {
        for (long left = nanoTime - System.nanoTime(); left > 0; left = nanoTime - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }
}
