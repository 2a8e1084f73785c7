package dev.trunkline.benchmarks;

import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;

/** Latencies by windows of time that follow each other. */
final class Windows {

    private final long began;
    private final double[] ends;
    private final List<Histogram> histograms = new ArrayList<>();

    /** @param lengths in seconds */
    Windows(long began, double... lengths) {
        this.began = began;
        this.ends = new double[lengths.length];
        double end = 0;
        for (int i = 0; i < lengths.length; i++) {
            end += lengths[i];
            ends[i] = end;
            histograms.add(Pace.latencies());
        }
    }

    long began() {
        return began;
    }

    /** How long all of them are, in seconds. */
    double length() {
        return ends[ends.length - 1];
    }

    /** Records what something took that was due then and is over now. */
    void record(long due) {
        record(due, System.nanoTime() - due);
    }

    /** Records that something which was due then took so long. */
    void record(long due, long nanos) {
        int window = 0;
        while ((due - began) / 1e9 >= ends[window]) {
            window++;
        }
        histograms.get(window).recordValue(nanos / 1_000);
    }

    List<Histogram> histograms() {
        return histograms;
    }

    /** The p95 of each, in milliseconds. */
    List<Double> p95() {
        return histograms.stream()
                .map(latencies -> Result.digits(Pace.millis(latencies, 95)))
                .toList();
    }
}
