package dev.trunkline.benchmarks.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The report as people read it.
 *
 * @param notes what somebody has written about it; may be empty
 */
record Readme(List<Section> sections, String notes) {

    static final String MARK = "<!-- Written by ./trunkline bench: do not edit. -->";

    /** A scenario, what it compares, and the files of its charts. */
    record Section(Chapter chapter, String summary, List<String> charts) {}

    String text() {
        Markdown text = new Markdown();
        text.line(MARK)
                .paragraph("# Benchmark report")
                .paragraph(
                        "Written from the `.jsonl` files beside it by `./trunkline bench NAME… --report DIR`, which replaces the "
                                + "results of the scenarios it runs. `./trunkline bench --report DIR` only writes it again. "
                                + "Notes are from `NOTES.md`, if there is one.")
                .paragraph(
                        "A figure counts only as a ratio: both sides were measured by turns, in one run on one database. The ratio "
                                + "is the median of the ratios of the turns, not the ratio of the medians; beside it are the smallest and the "
                                + "largest of them.");
        boolean once = sections.stream()
                        .map(section -> section.chapter().run().where())
                        .distinct()
                        .count()
                == 1;
        if (once) {
            text.paragraph("## Where it ran");
            where(text, sections.getFirst().chapter().run().where());
        }
        summary(text);
        if (!notes.isBlank()) {
            text.paragraph("## Notes").paragraph(notes.strip());
        }
        sections.forEach(section -> section(text, section, once));
        return text.toString();
    }

    private void summary(Markdown text) {
        List<List<String>> rows = new ArrayList<>();
        for (Section section : sections) {
            for (Figure figure : section.chapter().figures()) {
                rows.add(List.of(
                        "[%s](#%s)"
                                .formatted(
                                        Words.cell(figure.label()),
                                        section.chapter().scenario()),
                        Words.number(figure.value()) + " " + Words.cell(figure.unit()),
                        Words.number(figure.baselineValue()),
                        ratio(figure),
                        Words.cell(figure.target()),
                        outcome(figure)));
            }
        }
        text.paragraph("## Summary")
                .table(List.of("scenario", "measured", "baseline", "ratio (spread)", "target", ""), rows);
    }

    private static void section(Markdown text, Section section, boolean once) {
        Run run = section.chapter().run();
        List<Figure> figures = section.chapter().figures();
        text.paragraph("## " + section.chapter().scenario());
        if (!section.summary().isEmpty()) {
            text.paragraph(Words.cell(section.summary()) + ".");
        }
        text.paragraph("`%s`, %s".formatted(run.command(), run.date()));
        section.charts()
                .forEach(chart -> text.paragraph("![%s](%s)".formatted(chart.substring(0, chart.length() - 4), chart)));
        text.table(
                List.of("result", "measured", "baseline", "unit", "ratio (spread)", "turns", "target", ""),
                figures.stream().map(Readme::row).toList());
        text.folded(
                "baselines and details",
                inside -> figures.forEach(figure -> {
                    inside.paragraph(
                            "**%s** against: %s.".formatted(Words.cell(figure.label()), Words.cell(figure.baseline())));
                    Details.write(inside, figure.details());
                }));
        if (!once) {
            text.folded("where it ran", inside -> where(inside, run.where()));
        }
    }

    private static List<String> row(Figure figure) {
        return List.of(
                Words.cell(figure.label()),
                Words.number(figure.value()),
                Words.number(figure.baselineValue()),
                Words.cell(figure.unit()),
                ratio(figure),
                String.valueOf(figure.repetitions()),
                Words.cell(figure.target()),
                outcome(figure));
    }

    private static void where(Markdown text, Run.Where where) {
        text.table(List.of("machine", ""), rows(where.machine()));
        text.table(List.of("version", ""), rows(where.versions()));
        text.table(List.of("setting of PostgreSQL", ""), rows(where.settings()));
        text.paragraph("Payloads of " + where.payloadBytes() + " bytes, unless a scenario says otherwise.");
    }

    private static List<List<String>> rows(Map<String, String> map) {
        return map.entrySet().stream()
                .map(entry -> List.of(Words.cell(entry.getKey()), Words.cell(entry.getValue())))
                .toList();
    }

    private static String ratio(Figure figure) {
        return "%s (%s … %s)"
                .formatted(
                        Words.number(figure.ratio()),
                        Words.number(figure.spread().min()),
                        Words.number(figure.spread().max()));
    }

    private static String outcome(Figure figure) {
        return figure.pass() ? "pass" : "**MISSED**";
    }
}
