package dev.trunkline.benchmarks.report;

import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A result as it is on record: what {@code --json} prints. */
record Figure(
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

    record Spread(double min, double max) {}

    Figure {
        Objects.requireNonNull(scenario, "scenario");
        Objects.requireNonNull(unit, "unit");
        Objects.requireNonNull(baseline, "baseline");
        Objects.requireNonNull(spread, "spread");
        Objects.requireNonNull(target, "target");
        Objects.requireNonNull(details, "details");
    }

    /** Whose figure the baseline is, if it is somebody's. */
    @Nullable
    String system() {
        return details.get("system") instanceof String system ? system : null;
    }

    /** What was varied, if anything; {@link Double#NaN} if not. */
    double x() {
        return details.get("x") instanceof Number x ? x.doubleValue() : Double.NaN;
    }

    String xName() {
        return String.valueOf(details.getOrDefault("xName", "x"));
    }

    /** Its name and whatever else tells it from others of that name. */
    String label() {
        String against = system() == null ? "" : ", " + system();
        return scenario + against + (Double.isNaN(x()) ? "" : ", " + xName() + " " + Words.number(x()));
    }

    /** Its name without the system and without what was varied. */
    String stem() {
        String stem = scenario;
        for (int i = 0; i < 2; i++) {
            stem = without(stem, "-" + Words.number(x()).replace(",", ""));
            stem = system() == null ? stem : without(stem, "-" + Words.slug(system()));
        }
        return stem;
    }

    private static String without(String name, String end) {
        return name.endsWith(end) ? name.substring(0, name.length() - end.length()) : name;
    }
}
