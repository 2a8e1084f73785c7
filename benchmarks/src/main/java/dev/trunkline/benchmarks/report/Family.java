package dev.trunkline.benchmarks.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Figures that belong into one chart, and which chart that is. */
record Family(String name, Kind kind, List<Figure> figures) {

    enum Kind {
        /** Trunkline beside systems. */
        SYSTEMS,
        /** Something over what was varied. */
        VARIED,
        /** Ratios and their targets. */
        RATIOS
    }

    private static final String SUBJECT = "trunkline";
    /** A target that begins with words speaks of something else than the ratio. */
    private static final Pattern NUMBER = Pattern.compile("^(?:exactly |[<>=~ ])*(\\d+(\\.\\d+)?)");

    private record Kin(boolean system, String stem, String unit) {}

    /** Those of a scenario: figures without a system of which nothing was varied are one family. */
    static List<Family> of(Chapter chapter) {
        Map<Kin, List<Figure>> kin = new LinkedHashMap<>();
        for (Figure figure : chapter.figures()) {
            kin.computeIfAbsent(
                            new Kin(figure.system() != null, figure.stem(), figure.unit()), key -> new ArrayList<>())
                    .add(figure);
        }
        List<Family> families = new ArrayList<>();
        List<Figure> others = new ArrayList<>();
        kin.forEach((key, figures) -> {
            if (figures.stream()
                            .mapToDouble(Figure::x)
                            .filter(Double::isFinite)
                            .distinct()
                            .count()
                    > 1) {
                families.add(new Family(key.stem(), Kind.VARIED, figures));
            } else if (key.system()) {
                families.add(new Family(key.stem(), Kind.SYSTEMS, figures));
            } else {
                others.addAll(figures);
            }
        });
        if (!others.isEmpty()) {
            families.add(new Family(chapter.scenario(), Kind.RATIOS, others));
        }
        return families;
    }

    String chart() {
        return switch (kind) {
            case SYSTEMS -> systems().drawn();
            case VARIED -> varied().drawn();
            case RATIOS -> ratios().drawn();
        };
    }

    private String unit() {
        return figures.getFirst().unit();
    }

    private Bars systems() {
        double ours = median(figures, Figure::value);
        Stream<Bars.Bar> others = figures.stream()
                .map(figure -> Bars.Bar.plain(
                        String.valueOf(figure.system()),
                        figure.baselineValue(),
                        Words.number(figure.baselineValue()) + " · ratio " + Words.number(figure.ratio()),
                        Svg.PLAIN));
        Bars.Bar subject = Bars.Bar.plain(SUBJECT, ours, Words.number(ours), Svg.ACCENT);
        return new Bars(
                name,
                unit() + "; ratio: Trunkline / that system",
                Stream.concat(Stream.of(subject), others).toList());
    }

    private Lines varied() {
        List<Lines.Series> series = new ArrayList<>();
        boolean systems = figures.getFirst().system() != null;
        series.add(new Lines.Series(systems ? SUBJECT : "measured", byX(figures, Figure::value), Lines.Style.SUBJECT));
        Map<String, List<Figure>> others = new LinkedHashMap<>();
        for (Figure figure : figures) {
            String system = figure.system() == null ? "baseline" : figure.system();
            others.computeIfAbsent(system, key -> new ArrayList<>()).add(figure);
        }
        others.forEach((other, its) -> series.add(new Lines.Series(
                other, byX(its, Figure::baselineValue), systems ? Lines.Style.OTHER : Lines.Style.REFERENCE)));
        return new Lines(name, unit(), figures.getFirst().xName(), series);
    }

    private Bars ratios() {
        return new Bars(
                name,
                "ratio to the baseline; thin: its spread; mark: its target",
                figures.stream().map(Family::ratio).toList());
    }

    private static Bars.Bar ratio(Figure figure) {
        String target = figure.target().split(" \\(|,", 2)[0];
        return new Bars.Bar(
                figure.scenario(),
                figure.ratio(),
                figure.spread().min(),
                figure.spread().max(),
                number(figure.target()),
                Words.number(figure.ratio()) + " · target " + target + (figure.pass() ? "" : " · MISSED"),
                figure.pass() ? Svg.GOOD : Svg.BAD);
    }

    private static double number(String target) {
        Matcher number = NUMBER.matcher(target);
        return number.find() ? Double.parseDouble(number.group(1)) : Double.NaN;
    }

    private static TreeMap<Double, Double> byX(List<Figure> figures, ToDoubleFunction<Figure> value) {
        Map<Double, List<Figure>> byX = new LinkedHashMap<>();
        figures.stream()
                .filter(figure -> Double.isFinite(figure.x()))
                .forEach(figure -> byX.computeIfAbsent(figure.x(), key -> new ArrayList<>())
                        .add(figure));
        TreeMap<Double, Double> values = new TreeMap<>();
        byX.forEach((x, same) -> values.put(x, median(same, value)));
        return values;
    }

    private static double median(List<Figure> figures, ToDoubleFunction<Figure> value) {
        double[] sorted = figures.stream().mapToDouble(value).sorted().toArray();
        return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
    }
}
