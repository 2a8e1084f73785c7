package dev.trunkline.benchmarks;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * One figure and what it was compared with.
 *
 * @param scenario its name
 * @param value the median of what was measured
 * @param unit of both values
 * @param baseline what the baseline is, in words
 * @param baselineValue the median of the baseline
 * @param ratio the median of the ratios of the repetitions, not the ratio of the medians
 * @param spread the smallest and the largest of those ratios
 * @param target what the ratio should be
 * @param pass whether it is
 * @param details what else was seen
 */
record Result(
        String scenario,
        double value,
        String unit,
        String baseline,
        double baselineValue,
        double ratio,
        Spread spread,
        int repetitions,
        String target,
        boolean pass,
        Map<String, Object> details) {

    record Spread(double min, double max) {
        static Spread of(double[] ratios) {
            return new Spread(digits(Numbers.min(ratios)), digits(Numbers.max(ratios)));
        }
    }

    static Result of(
            String scenario,
            String unit,
            double[] values,
            String baseline,
            double[] baselineValues,
            double[] ratios,
            Target target) {
        double ratio = Numbers.median(ratios);
        return new Result(
                        scenario,
                        digits(Numbers.median(values)),
                        unit,
                        baseline,
                        digits(Numbers.median(baselineValues)),
                        digits(ratio),
                        Spread.of(ratios),
                        ratios.length,
                        target.words(),
                        target.met().test(ratio),
                        Map.of())
                .with("turns", digits(values))
                .with("baselineTurns", digits(baselineValues));
    }

    Result with(String name, Object detail) {
        Map<String, Object> more = new LinkedHashMap<>(details);
        more.put(name, detail instanceof Double number ? (Object) digits(number) : detail);
        return copy(pass, more);
    }

    /** Of several results of a scenario that differ in one number, this is that for so many of that. */
    Result at(String xName, long x) {
        return with("xName", xName).with("x", x);
    }

    /** It passes only if this holds too. */
    Result requiring(String name, boolean condition) {
        return copy(pass && condition, details).with(name, condition);
    }

    private Result copy(boolean newPass, Map<String, Object> newDetails) {
        return new Result(
                scenario,
                value,
                unit,
                baseline,
                baselineValue,
                ratio,
                spread,
                repetitions,
                target,
                newPass,
                newDetails);
    }

    private static List<Double> digits(double[] values) {
        return Arrays.stream(values).map(Result::digits).boxed().toList();
    }

    /** Four digits: more would only pretend. */
    static double digits(double value) {
        return Double.isFinite(value)
                ? new BigDecimal(value).round(new MathContext(4)).doubleValue()
                : value;
    }
}
