package dev.trunkline.checker;

import dev.trunkline.checker.History.Publication;
import dev.trunkline.checker.History.Stake;
import java.io.IOException;
import java.nio.file.Path;

/**
 * Holds the journals of a directory against what was promised.
 *
 * <pre>{@code
 * Verdict verdict = Checker.check(directory, Limits.standard());
 * verdict.print(System.out);
 * }</pre>
 */
public final class Checker {

    private Checker() {}

    public static Verdict check(Path directory, Limits limits) throws IOException {
        History history = Reader.read(directory);
        Figures figures = count(history);
        Findings findings = new Findings();
        new LogChecks(history, findings).run();
        for (Stake stake : history.stakes()) {
            Share share = new Share(history, limits, findings, figures, stake);
            new Owed(share).run();
            new KeyOrder(share).run();
            new Duplicates(share).run();
            new Records(share).run();
            new Effects(share).run();
        }
        return new Verdict(figures, findings.counts(), Context.of(directory, findings.told()));
    }

    private static Figures count(History history) {
        Figures figures = new Figures();
        figures.events = history.events;
        figures.faults = history.faults.size();
        for (Publication publication : history.publications.values()) {
            if (publication.isAcknowledged()) {
                figures.acknowledged++;
            } else if (publication.hasFailed()) {
                figures.failed++;
            } else {
                figures.unknown++;
            }
        }
        return figures;
    }

    /** Checks the directory that is named, and ends with 0 if nothing was found, else 1. */
    public static void main(String[] arguments) throws IOException {
        if (arguments.length != 1) {
            System.err.println("usage: the directory with the journals");
            System.exit(2);
        }
        Verdict verdict = check(Path.of(arguments[0]), Limits.standard());
        verdict.print(System.out);
        System.exit(verdict.isClean() ? 0 : 1);
    }
}
