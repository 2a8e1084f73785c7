package dev.trunkline.checker;

import java.io.PrintStream;
import java.util.List;
import java.util.Map;

/**
 * What a check has come to.
 *
 * @param figures how much was checked
 * @param counts how often each invariant was violated
 * @param told the first violations of each, with the lines of the journals about them
 */
public record Verdict(Figures figures, Map<Invariant, Long> counts, List<Told> told) {

    /** A violation, and the events around it, oldest first. */
    public record Told(Violation violation, List<String> lines) {}

    public boolean isClean() {
        return counts.isEmpty();
    }

    public void print(PrintStream out) {
        out.println(figures);
        counts.forEach(
                (invariant, count) -> out.printf("%s violated %,d times: %s%n", invariant, count, invariant.rule()));
        for (Told each : told) {
            out.println();
            out.println(each.violation);
            each.lines.forEach(line -> out.println("    " + line));
        }
        if (isClean()) {
            out.println("nothing was lost, doubled, reordered or made up");
        }
    }
}
