package dev.trunkline.benchmarks;

import dev.trunkline.Publisher;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.HdrHistogram.Histogram;

/** Publishers that send at set times, and how long each call took, by windows of time. */
final class PacedPublishers {

    private static final Pace PACE = new Pace(8, 400);

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
            this.windows.add(Pace.latencies());
        }
    }

    static int perSecond() {
        return (int) PACE.perSecond();
    }

    /** Publishes through all windows; meanwhile does something, at that second. Returns the latencies of the windows. */
    List<Histogram> run(double at, Runnable meanwhile) {
        long began = System.nanoTime();
        CompletableFuture<Void> other = CompletableFuture.runAsync(
                () -> {
                    Pace.sleepUntil(began + (long) (at * 1e9));
                    meanwhile.run();
                },
                task -> Thread.ofPlatform().name("meanwhile").start(task));
        PACE.keep(began, windowEnds[windowEnds.length - 1], due -> {
            publisher.publish(Samples.keyed());
            Pace.record(windows.get(window((due - began) / 1e9)), due);
            return 1;
        });
        other.join();
        return windows;
    }

    private int window(double second) {
        int window = 0;
        while (second >= windowEnds[window]) {
            window++;
        }
        return window;
    }
}
