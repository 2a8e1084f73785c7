package dev.trunkline.benchmarks;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
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

    /** What {@link #json} prints. */
    static List<String> lines(List<Result> results) {
        StringWriter lines = new StringWriter();
        results.forEach(json(new PrintWriter(lines))::add);
        return lines.toString().lines().toList();
    }

    /** For people. */
    static Report table(PrintWriter out) {
        String columns = "%-30s %9s  %-19s %-25s %-6s  %s%n";
        out.printf(columns, "scenario", "ratio", "spread", "target", "", "measured, against the baseline");
        return result -> {
            out.printf(
                    columns,
                    result.scenario(),
                    number(result.ratio()),
                    number(result.spread().min()) + " … "
                            + number(result.spread().max()),
                    result.target(),
                    result.pass() ? "pass" : "MISSED",
                    number(result.value()) + " against " + number(result.baselineValue()) + " " + result.unit());
            out.println("    baseline: " + result.baseline());
            if (!result.details().isEmpty()) {
                out.println("    " + details(result));
            }
            out.flush();
        };
    }

    private static String details(Result result) {
        return result.details().entrySet().stream()
                .map(detail -> detail.getKey() + " " + readable(detail.getValue()))
                .collect(Collectors.joining(", "));
    }

    private static Object readable(Object detail) {
        return detail instanceof Double number ? number(number) : detail;
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, value >= 100 ? "%,.0f" : value >= 0.01 ? "%.2f" : "%.2g", value);
    }
}
