package dev.trunkline.server.demo;

import static dev.trunkline.server.demo.Proof.number;

import dev.trunkline.server.Columns;
import dev.trunkline.server.demo.Books.Group;
import java.io.PrintWriter;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntSupplier;
import java.util.stream.Collectors;

/** A table of the groups that is drawn again and again on a terminal, elsewhere a line every now and then; and what happens. */
final class Board {

    private final PrintWriter out;
    private final boolean terminal;
    private final IntSupplier columns;
    private final long start = System.nanoTime();
    private final ReentrantLock writing = new ReentrantLock();
    private final Map<String, Long> doneBefore = new HashMap<>();
    private double shown;
    private String table = "";

    Board(PrintWriter out, boolean terminal, IntSupplier columns) {
        this.out = out;
        this.terminal = terminal;
        this.columns = columns;
    }

    /** How often to show the groups. */
    int intervalMillis() {
        return terminal ? 500 : 1_000;
    }

    /** Writes a line that stays, above the table. */
    void say(String line) {
        write("%4.0f s   %s%n".formatted(seconds(), line), false);
    }

    void show(List<Group> groups, Map<Long, Integer> holders) {
        double now = seconds();
        String row = terminal ? "%n         %-10s lag %8s %8s/s" : "; %s lag %s, %s/s";
        String rows = groups.stream()
                .map(group -> row.formatted(group.name(), number(group.lag()), rate(group, now - shown)))
                .collect(Collectors.joining());
        String partitions = holders.entrySet().stream()
                .map(holder -> holder.getValue() + " in process " + holder.getKey())
                .collect(Collectors.joining(", "));
        String drawn = "%4.0f s   partitions: %s%s%n".formatted(now, partitions, rows);
        write(terminal ? cut(drawn) : drawn, terminal);
        shown = now;
    }

    /** A line that the terminal wraps would be two when they are counted to be drawn again. */
    private String cut(String drawn) {
        int most = columns.getAsInt() - 1;
        return drawn.lines()
                .map(line -> Columns.cut(line, most) + System.lineSeparator())
                .collect(Collectors.joining());
    }

    private String rate(Group group, double seconds) {
        Long before = doneBefore.put(group.name(), group.done());
        return number(Math.round((group.done() - (before == null ? 0 : before)) / seconds));
    }

    private double seconds() {
        return (System.nanoTime() - start) / 1e9;
    }

    private void write(String text, boolean isTable) {
        writing.lock();
        try {
            long lines = table.lines().count();
            out.print((lines == 0 ? "" : "\033[" + lines + "A\033[J") + text);
            if (isTable) {
                table = text;
            } else {
                out.print(table);
            }
            out.flush();
        } finally {
            writing.unlock();
        }
    }
}
