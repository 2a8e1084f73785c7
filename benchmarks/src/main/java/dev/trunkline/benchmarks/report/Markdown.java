package dev.trunkline.benchmarks.report;

import java.util.List;
import java.util.function.Consumer;

/** A Markdown text that grows block by block. */
final class Markdown {

    private final StringBuilder text = new StringBuilder();

    Markdown line(String line) {
        text.append(line).append('\n');
        return this;
    }

    Markdown paragraph(String paragraph) {
        return line("").line(paragraph);
    }

    /** Of cells that are Markdown already. */
    Markdown table(List<String> head, List<List<String>> rows) {
        line("");
        row(head);
        row(head.stream().map(column -> "---").toList());
        rows.forEach(this::row);
        return this;
    }

    private void row(List<String> cells) {
        line("| " + String.join(" | ", cells) + " |");
    }

    /** What shows only when it is asked for. */
    Markdown folded(String title, Consumer<Markdown> inside) {
        paragraph("<details><summary>" + title + "</summary>");
        inside.accept(this);
        return paragraph("</details>");
    }

    @Override
    public String toString() {
        return text.toString();
    }
}
