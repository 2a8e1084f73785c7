package dev.trunkline.benchmarks.report;

import java.util.List;
import java.util.NavigableMap;
import java.util.stream.Collectors;

/** Values over what was varied, a line for each series, named at the right. */
record Lines(String title, String unit, String xName, List<Series> series) {

    private static final double BOTTOM = Svg.TOP + 260.0;
    private static final double LEFT = Svg.MARGIN + 46.0;
    private static final double RIGHT = Svg.WIDTH - 220.0;
    private static final int LEGEND_ROW = 22;
    private static final int LONGEST_NAME = 24;

    /** How a line looks. */
    enum Style {
        SUBJECT,
        OTHER,
        REFERENCE
    }

    /** The values by x. */
    record Series(String name, NavigableMap<Double, Double> values, Style style) {}

    private static final List<String> COLORS =
            List.of("#9a6700", "#8250df", "#1a7f37", "#cf222e", "#57606a", "#bf3989", "#1b7c83", "#bc4c00");
    private static final List<String> DASHES = List.of("none", "7 3", "2 3");

    String drawn() {
        double[] all = series.stream()
                .flatMap(one -> one.values().values().stream())
                .mapToDouble(Double::doubleValue)
                .toArray();
        double[] xs = series.stream()
                .flatMap(one -> one.values().keySet().stream())
                .mapToDouble(Double::doubleValue)
                .distinct()
                .sorted()
                .toArray();
        Scale x = Scale.across(xs, LEFT + 12, RIGHT - 12);
        Scale y = Scale.of(all, BOTTOM, Svg.TOP);
        Svg svg = new Svg();
        axes(svg, x, y, xs);
        for (int i = 0; i < series.size(); i++) {
            draw(svg, x, y, i);
        }
        double height = Math.max(BOTTOM + 56, Svg.TOP + LEGEND_ROW * (series.size() + 1));
        return svg.drawn(title, unit + (y.logarithmic() ? "; logarithmic" : ""), description(), height);
    }

    private void axes(Svg svg, Scale x, Scale y, double[] xs) {
        for (double tick : y.ticks()) {
            svg.line(LEFT, y.at(tick), RIGHT, y.at(tick), "grid");
            svg.text(LEFT - 8, y.at(tick) + 4, "end", "muted", Words.brief(tick));
        }
        svg.line(LEFT, BOTTOM, RIGHT, BOTTOM, "axis");
        double free = 0;
        for (double value : xs) {
            String label = Words.brief(value);
            svg.line(x.at(value), BOTTOM, x.at(value), BOTTOM + 5, "axis");
            if (x.at(value) - Svg.width(label) / 2 >= free) {
                svg.text(x.at(value), BOTTOM + 19, "middle", "muted", label);
                free = x.at(value) + Svg.width(label) / 2 + 6;
            }
        }
        svg.text((LEFT + RIGHT) / 2, BOTTOM + 40, "middle", "muted", Words.spaced(xName));
    }

    private void draw(Svg svg, Scale x, Scale y, int i) {
        Series one = series.get(i);
        String color = switch (one.style()) {
            case SUBJECT -> Svg.ACCENT;
            case REFERENCE -> Svg.PLAIN;
            case OTHER -> COLORS.get(i % COLORS.size());
        };
        double width = one.style() == Style.SUBJECT ? 3 : one.style() == Style.OTHER ? 1.8 : 1.2;
        String dashes = one.style() == Style.OTHER ? DASHES.get(i / COLORS.size() % DASHES.size()) : "none";
        StringBuilder points = new StringBuilder();
        one.values().forEach((at, value) -> {
            if (y.shows(value)) {
                points.append(point(x.at(at), y.at(value))).append(' ');
                svg.dot(x.at(at), y.at(value), width + 1, color);
            }
        });
        svg.curve(points.toString().strip(), color, width, dashes);
        double row = Svg.TOP + 10 + LEGEND_ROW * i;
        double legend = RIGHT + 22;
        svg.curve(point(legend, row) + " " + point(legend + 22, row), color, width, dashes);
        String style = one.style() == Style.SUBJECT ? "strong" : "";
        svg.text(legend + 30, row + 4, "start", style, Words.cut(one.name(), LONGEST_NAME));
    }

    private static String point(double x, double y) {
        return Svg.n(x) + "," + Svg.n(y);
    }

    private String description() {
        return series.stream()
                .map(one -> one.name() + ": "
                        + one.values().entrySet().stream()
                                .map(point -> xName + " " + Words.number(point.getKey()) + " "
                                        + Words.number(point.getValue()))
                                .collect(Collectors.joining(", ")))
                .collect(Collectors.joining("; "));
    }
}
