package dev.trunkline.server;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;

/** Rows under headings. On a terminal the longest cells are cut so that a row is a line; elsewhere nothing is. */
public final class Table {

    private static final String BETWEEN = "  ";
    /** A column is not made narrower than this, however narrow the terminal is. */
    private static final int NARROWEST = 6;

    private final List<String> headings;
    private final List<List<String>> rows = new ArrayList<>();
    private final boolean[] numbers;

    public Table(String... headings) {
        this.headings = List.of(headings);
        this.numbers = new boolean[headings.length];
    }

    /** Adds a row. Numbers stand on the right; null is an empty cell. */
    public void row(@Nullable Object... cells) {
        for (int i = 0; i < cells.length; i++) {
            numbers[i] |= cells[i] instanceof Number;
        }
        rows.add(Stream.of(cells)
                .map(cell -> Output.printable(Objects.toString(cell, "")))
                .toList());
    }

    /** To where the command writes. */
    public void print(CommandSpec command) {
        PrintWriter out = command.commandLine().getOut();
        print(out, Terminal.of(command));
        out.flush();
    }

    void print(PrintWriter out, Terminal terminal) {
        int[] widths = widths();
        if (terminal.present()) {
            fit(widths, terminal.columns().getAsInt());
        }
        out.println(terminal.bold(line(headings, widths)));
        rows.forEach(row -> out.println(line(row, widths)));
    }

    private int[] widths() {
        int[] widths = new int[headings.size()];
        for (int i = 0; i < widths.length; i++) {
            int column = i;
            widths[i] = Stream.concat(Stream.of(headings), rows.stream())
                    .mapToInt(row -> Columns.of(row.get(column)))
                    .max()
                    .orElse(0);
        }
        return widths;
    }

    /** Takes from the widest, again and again. Numbers are never cut: half a number is a wrong one. */
    private void fit(int[] widths, int columns) {
        int total = Math.multiplyExact(BETWEEN.length(), widths.length - 1);
        for (int width : widths) {
            total += width;
        }
        while (total > columns) {
            int widest = widest(widths);
            if (widest < 0) {
                return;
            }
            widths[widest]--;
            total--;
        }
    }

    private int widest(int[] widths) {
        int widest = -1;
        for (int i = 0; i < widths.length; i++) {
            if (!numbers[i] && widths[i] > NARROWEST && (widest < 0 || widths[i] > widths[widest])) {
                widest = i;
            }
        }
        return widest;
    }

    private String line(List<String> cells, int[] widths) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < widths.length; i++) {
            String cell = Columns.cut(cells.get(i), widths[i]);
            String space = " ".repeat(widths[i] - Columns.of(cell));
            line.append(i == 0 ? "" : BETWEEN).append(numbers[i] ? space + cell : cell + space);
        }
        return line.toString().stripTrailing();
    }
}
