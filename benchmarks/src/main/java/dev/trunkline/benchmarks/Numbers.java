package dev.trunkline.benchmarks;

import java.util.Arrays;
import java.util.List;

/** What is said of several measurements. */
final class Numbers {

    private Numbers() {}

    static double median(double... values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    static double min(double... values) {
        return Arrays.stream(values).min().orElseThrow();
    }

    static double max(double... values) {
        return Arrays.stream(values).max().orElseThrow();
    }

    static double[] array(List<Double> values) {
        return values.stream().mapToDouble(Double::doubleValue).toArray();
    }

    /** Element by element. */
    static double[] ratios(double[] values, double[] baseline) {
        double[] ratios = new double[values.length];
        Arrays.setAll(ratios, i -> values[i] / baseline[i]);
        return ratios;
    }
}
