package dev.trunkline.checker;

import dev.trunkline.checker.History.Publication;
import dev.trunkline.checker.History.Stake;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.time.Duration;

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

    /**
     * Reads and checks all journals of a directory. Fails if one can not be read, and if there is nothing to check: nobody has written a journal, or
     * nobody has published anything.
     */
    public static Verdict check(Path directory, Limits limits) throws IOException {
        long began = System.nanoTime();
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
            new Epochs(share).run();
            new Effects(share).run();
        }
        Verdict verdict = new Verdict(figures, findings.counts(), Context.of(directory, findings.told()));
        figures.took = Duration.ofNanos(System.nanoTime() - began);
        return verdict;
    }

    private static Figures count(History history) {
        Figures figures = new Figures(history.events);
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

    /** Checks the directory that is named, and ends with 0 if nothing was found, 1 if something was, and 2 if it could not be checked. */
    public static void main(String[] arguments) {
        System.exit(run(arguments, System.out, System.err));
    }

    static int run(String[] arguments, PrintStream out, PrintStream errors) {
        if (arguments.length != 1) {
            errors.println("usage: the directory with the journals");
            return 2;
        }
        try {
            Verdict verdict = check(Path.of(arguments[0]), Limits.standard());
            verdict.print(out);
            return verdict.isClean() ? 0 : 1;
        } catch (NoSuchFileException | NotDirectoryException e) {
            errors.println("there is no directory " + e.getFile());
        } catch (IOException e) {
            errors.println(e.getMessage());
        }
        return 2;
    }
}
