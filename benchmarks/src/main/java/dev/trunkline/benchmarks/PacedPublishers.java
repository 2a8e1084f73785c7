package dev.trunkline.benchmarks;

import dev.trunkline.Publisher;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.HdrHistogram.Histogram;

/** Publishers that send at set times, and how long each call took, by windows of time. */
final class PacedPublishers {

    private static final Pace PACE = new Pace(8, 400);

    private final Publisher publisher;
    private final double[] lengths;

    /** @param lengths of the windows that follow each other, in seconds */
    PacedPublishers(Publisher publisher, double... lengths) {
        this.publisher = publisher;
        this.lengths = lengths.clone();
    }

    static int perSecond() {
        return (int) PACE.perSecond();
    }

    /** Publishes through all windows; meanwhile does something, at that second. Returns the latencies of the windows. */
    List<Histogram> run(double at, Runnable meanwhile) {
        Windows windows = new Windows(System.nanoTime(), lengths);
        CompletableFuture<Void> other = CompletableFuture.runAsync(
                () -> {
                    Pace.sleepUntil(windows.began() + (long) (at * 1e9));
                    meanwhile.run();
                },
                task -> Thread.ofPlatform().name("meanwhile").start(task));
        PACE.keep(windows.began(), windows.length(), due -> {
            publisher.publish(Samples.keyed());
            windows.record(due);
            return 1;
        });
        other.join();
        return windows.histograms();
    }
}
