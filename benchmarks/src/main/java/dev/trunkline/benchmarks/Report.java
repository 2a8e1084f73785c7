package dev.trunkline.benchmarks;

import java.io.PrintWriter;
import java.util.Locale;
import java.util.stream.Collectors;
import tools.jackson.databind.json.JsonMapper;

/** Says what came out, result by result. */
interface Report {

    void add(Result result);

    /** One JSON object a line. */
    static Report json(PrintWriter out) {
        JsonMapper mapper = JsonMapper.builder().build();
        return result -> {
            out.println(mapper.writeValueAsString(result));
            out.flush();
        };
    }

    /** For people. */
    static Report table(PrintWriter out) {
        out.printf(
                Locale.ROOT,
                "%-27s %8s  %-17s %-24s %-6s %s%n",
                "scenario",
                "ratio",
                "spread",
                "target",
                "",
                "measured, against the baseline");
        return result -> {
            out.printf(
                    Locale.ROOT,
                    "%-27s %8.4g  %-17s %-24s %-6s %,.4g against %,.4g %s%n",
                    result.scenario(),
                    result.ratio(),
                    String.format(
                            Locale.ROOT,
                            "%.3g … %.3g",
                            result.spread().min(),
                            result.spread().max()),
                    result.target(),
                    result.pass() ? "pass" : "MISSED",
                    result.value(),
                    result.baselineValue(),
                    result.unit());
            out.println("    baseline: " + result.baseline());
            if (!result.details().isEmpty()) {
                out.println("    "
                        + result.details().entrySet().stream()
                                .map(detail -> detail.getKey() + " " + detail.getValue())
                                .collect(Collectors.joining(", ")));
            }
            out.flush();
        };
    }
}
