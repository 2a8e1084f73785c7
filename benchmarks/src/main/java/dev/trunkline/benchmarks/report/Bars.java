package dev.trunkline.benchmarks.report;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;

/** Bars below each other, with what there is to say written at each. */
record Bars(String title, String subtitle, List<Bar> bars) {

    private static final int ROW = 30;
    private static final int THICK = 16;
    private static final int LONGEST_NAME = 36;

    /**
     * One of them; what it does not have is {@link Double#NaN}.
     *
     * @param min where its spread begins
     * @param max where its spread ends
     * @param target where a mark is
     */
    record Bar(String name, double value, double min, double max, double target, String words, String color) {

        static Bar plain(String name, double value, String words, String color) {
            return new Bar(name, value, Double.NaN, Double.NaN, Double.NaN, words, color);
        }

        private DoubleStream places() {
            return DoubleStream.of(value, min, max, target);
        }
    }

    String drawn() {
        double[] all = bars.stream().flatMapToDouble(Bar::places).toArray();
        double left = Svg.MARGIN + 12 + widest(bars.stream().map(Bar::name).toList(), LONGEST_NAME);
        double right = Svg.WIDTH
                - Svg.MARGIN
                - 12
                - widest(bars.stream().map(Bar::words).toList(), LONGEST_NAME);
        Scale scale = Scale.of(all, left, right);
        double bottom = Svg.TOP + ROW * bars.size();
        Svg svg = new Svg();
        for (double tick : scale.ticks()) {
            svg.line(scale.at(tick), Svg.TOP, scale.at(tick), bottom, "grid");
            svg.text(scale.at(tick), bottom + 16, "middle", "muted", Words.brief(tick));
        }
        svg.line(left, Svg.TOP, left, bottom, "axis");
        for (int i = 0; i < bars.size(); i++) {
            draw(svg, scale, bars.get(i), Svg.TOP + ROW * i + ROW / 2.0);
        }
        String note = scale.logarithmic() ? "; logarithmic" : "";
        return svg.drawn(title, subtitle + note, description(), bottom + 36);
    }

    private static void draw(Svg svg, Scale scale, Bar bar, double middle) {
        String style = bar.color().equals(Svg.ACCENT) ? "strong" : "";
        svg.text(scale.from() - 8, middle + 4, "end", style, Words.cut(bar.name(), LONGEST_NAME));
        if (scale.shows(bar.value())) {
            double width = Math.max(1, scale.at(bar.value()) - scale.from());
            svg.rect(scale.from(), middle - THICK / 2.0, width, THICK, bar.color());
        }
        if (scale.shows(bar.min()) && scale.shows(bar.max())) {
            svg.line(scale.at(bar.min()), middle, scale.at(bar.max()), middle, "spread");
        }
        if (scale.shows(bar.target())) {
            svg.line(scale.at(bar.target()), middle - 12, scale.at(bar.target()), middle + 12, "target");
        }
        double end = bar.places().filter(scale::shows).map(scale::at).max().orElse(scale.from());
        svg.text(end + 8, middle + 4, "start", style, Words.cut(bar.words(), LONGEST_NAME));
    }

    private static double widest(List<String> texts, int most) {
        return texts.stream()
                .mapToDouble(text -> Svg.width(Words.cut(text, most)))
                .max()
                .orElse(0);
    }

    private String description() {
        return bars.stream().map(bar -> bar.name() + ": " + bar.words()).collect(Collectors.joining("; "));
    }
}
