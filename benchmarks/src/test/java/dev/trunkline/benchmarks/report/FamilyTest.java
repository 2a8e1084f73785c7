package dev.trunkline.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.StringReader;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.xml.sax.InputSource;

/** Which charts a scenario gets, and what is on them. */
class FamilyTest {

    private static final Run RUN = new Run("today", "bench", new Run.Where(Map.of(), Map.of(), Map.of(), 200));

    @Test
    void systems_are_bars_beside_trunkline() throws Exception {
        Family family = only(against("peers-kafka", 3_000, "kafka", 6_000), against("peers", 3_000, "jobrunr", 10));
        assertThat(family.name()).isEqualTo("peers");
        Document chart = parsed(family);
        assertThat(texts(chart))
                .contains("trunkline", "3,000", "kafka", "6,000 · ratio 0.5", "jobrunr", "10 · ratio 300")
                .contains("messages/s; ratio: Trunkline / that system; logarithmic");
        assertThat(widths(chart)).hasSize(3).satisfies(widths -> {
            assertThat(widths.get(1)).isGreaterThan(widths.get(0));
            assertThat(widths.get(0)).isGreaterThan(widths.get(2));
        });
    }

    @Test
    void what_was_varied_becomes_lines_by_system() throws Exception {
        Family family = only(IntStream.of(1, 4, 16, 64)
                .boxed()
                .flatMap(x -> Stream.of(
                        varied("peers-" + x, 1_000, x, "groups", "kafka", 900),
                        varied("peers-" + x, 1_000, x, "groups", "artemis", 500)))
                .toArray(Figure[]::new));
        assertThat(family.kind()).isEqualTo(Family.Kind.VARIED);
        Document chart = parsed(family);
        assertThat(texts(chart)).contains("trunkline", "kafka", "artemis", "groups", "1", "4", "16", "64");
        assertThat(places(chart)).hasSize(12);
        List<Double> subject = places(chart).subList(0, 4);
        assertThat(subject.get(1) - subject.get(0)).isEqualTo(subject.get(3) - subject.get(2));
    }

    @Test
    void what_was_varied_without_a_system_has_the_baseline_for_reference() throws Exception {
        Document chart = parsed(
                only(varied("a-1", 10, 1, "threadsOfAll", null, 5), varied("a-2", 20, 2, "threadsOfAll", null, 5)));
        assertThat(texts(chart)).contains("measured", "baseline", "threads of all");
    }

    @Test
    void other_figures_are_bars_of_ratios_with_their_targets() throws Exception {
        Family family = only(
                figure("scenario-a", 4, 2, ">= 1.50 (so much)", true, Map.of()),
                figure("scenario-b", 1, 2, "value <= 7", false, Map.of()));
        assertThat(family.name()).isEqualTo("scenario");
        Document chart = parsed(family);
        assertThat(texts(chart)).contains("2 · target >= 1.50", "0.5 · target value <= 7 · MISSED");
        assertThat(elements(chart, "line")
                        .filter(line -> line.getAttribute("class").equals("target")))
                .as("a target that is not the ratio's has no place on its axis")
                .hasSize(1);
    }

    @Test
    void a_scenario_has_a_chart_for_each_name_and_unit() {
        Figure slow = against("scenario-batches", 1, "kafka", 2);
        List<Family> families = Family.of(chapter(
                against("scenario-single", 1, "kafka", 2),
                against("scenario-single", 1, "artemis", 2),
                slow,
                figure("scenario-other", 1, 2, "> 1", true, Map.of())));
        assertThat(families)
                .extracting(Family::name)
                .containsExactly("scenario-single", "scenario-batches", "scenario");
        assertThat(families.get(1).figures()).containsExactly(slow);
    }

    static Stream<List<Figure>> oddities() {
        Map<String, Object> x = Map.of("x", 8, "xName", "groups", "system", "kafka");
        return Stream.of(
                List.of(figure("one", 1, 1, "> 1", true, Map.of())),
                List.of(figure("one-x", 1, 1, "> 1", true, x)),
                List.of(figure("zero", 0, 0, "> 1", true, Map.of())),
                List.of(against("missing", 5, "kafka", Double.NaN)),
                List.of(against("zero", 0, "kafka", 0)),
                List.of(against("huge", 1e12, "kafka", 1e-12), against("huge", 1e12, "artemis", 0)),
                List.of(
                        varied("huge", 1e-9, 1, "x", "kafka", Double.NaN),
                        varied("huge", 1e9, 1_000_000, "x", "kafka", 0)),
                List.of(varied("below", 0, 0, "x", null, 0), varied("below", 0, 9, "x", null, Double.NaN)),
                List.of(figure("no-number", 1, 2, "for the record", true, Map.of())),
                List.of(against("a <b> & \"c\" 'd' ".repeat(20), 1, "kafka <&> ".repeat(20), 2)));
    }

    @ParameterizedTest
    @MethodSource("oddities")
    void any_figures_make_a_well_formed_chart_within_its_bounds(List<Figure> figures) throws Exception {
        Family family = only(figures.toArray(Figure[]::new));
        Document chart = parsed(family);
        double width = Double.parseDouble(chart.getDocumentElement().getAttribute("width"));
        for (String place : List.of("x", "x1", "x2", "cx")) {
            elements(chart, "*")
                    .filter(element -> element.hasAttribute(place))
                    .forEach(element -> assertThat(Double.parseDouble(element.getAttribute(place)))
                            .isBetween(0.0, width));
        }
        assertThat(family.chart()).isEqualTo(family.chart());
        assertThat(chart.getElementsByTagName("desc").item(0).getTextContent()).isNotBlank();
    }

    private static Family only(Figure... figures) {
        List<Family> families = Family.of(chapter(figures));
        assertThat(families).hasSize(1);
        return families.getFirst();
    }

    private static Chapter chapter(Figure... figures) {
        return new Chapter("scenario", RUN, List.of(figures));
    }

    private static Figure against(String name, double value, String system, double baseline) {
        return figure(name, value, baseline, "> 1", true, Map.of("system", system));
    }

    private static Figure varied(String name, double value, int x, String xName, String system, double baseline) {
        Map<String, Object> details = new LinkedHashMap<>(Map.of("x", x, "xName", xName));
        if (system != null) {
            details.put("system", system);
        }
        return figure(name, value, baseline, "> 1", true, details);
    }

    private static Figure figure(
            String name, double value, double baseline, String target, boolean pass, Map<String, Object> details) {
        double ratio = value / baseline;
        return new Figure(
                name,
                value,
                "messages/s",
                "words",
                baseline,
                ratio,
                new Figure.Spread(ratio, ratio),
                1,
                target,
                pass,
                details);
    }

    private static Document parsed(Family family) throws Exception {
        return DocumentBuilderFactory.newDefaultInstance()
                .newDocumentBuilder()
                .parse(new InputSource(new StringReader(family.chart())));
    }

    private static Stream<Element> elements(Document chart, String name) {
        var found = chart.getElementsByTagName(name);
        return IntStream.range(0, found.getLength()).mapToObj(i -> (Element) found.item(i));
    }

    private static List<String> texts(Document chart) {
        return elements(chart, "text").map(Element::getTextContent).toList();
    }

    /** Of the bars; the first rectangle is the card. */
    private static List<Double> widths(Document chart) {
        return elements(chart, "rect")
                .skip(1)
                .map(bar -> Double.valueOf(bar.getAttribute("width")))
                .toList();
    }

    private static List<Double> places(Document chart) {
        return Arrays.asList(elements(chart, "circle")
                .map(dot -> Double.valueOf(dot.getAttribute("cx")))
                .toArray(Double[]::new));
    }
}
