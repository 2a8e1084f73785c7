package dev.trunkline.benchmarks.report;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Where values lie between two places of a drawing. A logarithmic one leaves out what is not positive. */
record Scale(double low, double high, boolean logarithmic, double from, double to) {

    private static final int TICKS = 5;
    private static final int MOST_DECADES = 7;
    private static final double WIDE = 30;

    /** One for these values: from zero on, or by powers of ten if they differ widely. */
    static Scale of(double[] values, double from, double to) {
        double[] positive = positive(values);
        double max = Arrays.stream(positive).max().orElse(1);
        double min = Arrays.stream(positive).min().orElse(1);
        if (max / min > WIDE) {
            double low = StrictMath.pow(10, Math.ceil(StrictMath.log10(min)) - 1);
            return new Scale(low, StrictMath.pow(10, Math.ceil(StrictMath.log10(max))), true, from, to);
        }
        double step = step(max);
        return new Scale(0, Math.ceil(max / step) * step, false, from, to);
    }

    /** From the smallest to the largest of these, by powers of two if they differ much. */
    static Scale across(double[] values, double from, double to) {
        double max = Arrays.stream(values).max().orElse(1);
        double min = Arrays.stream(values).min().orElse(0);
        return new Scale(min, max, min > 0 && max / min > 8, from, to);
    }

    private static double[] positive(double[] values) {
        return Arrays.stream(values)
                .filter(value -> value > 0 && Double.isFinite(value))
                .toArray();
    }

    boolean shows(double value) {
        return Double.isFinite(value) && (value > 0 || !logarithmic);
    }

    double at(double value) {
        double part =
                logarithmic ? StrictMath.log(value / low) / StrictMath.log(high / low) : (value - low) / (high - low);
        return from + part * (to - from);
    }

    List<Double> ticks() {
        List<Double> ticks = new ArrayList<>();
        if (logarithmic) {
            int first = (int) Math.round(StrictMath.log10(low));
            int last = (int) Math.round(StrictMath.log10(high));
            int each = Math.ceilDiv(last - first, MOST_DECADES);
            for (int decade = first; decade <= last; decade += each) {
                ticks.add(StrictMath.pow(10, decade));
            }
        } else {
            double step = step(high);
            for (int i = 0; i * step <= high * 1.001; i++) {
                ticks.add(i * step);
            }
        }
        return ticks;
    }

    /** 1, 2 or 5 of some power of ten. */
    private static double step(double max) {
        double rough = max / TICKS;
        double power = StrictMath.pow(10, Math.floor(StrictMath.log10(rough)));
        double times = rough / power;
        return power * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
    }
}
