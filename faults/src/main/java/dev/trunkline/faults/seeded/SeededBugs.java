package dev.trunkline.faults.seeded;

import dev.trunkline.checker.Checker;
import dev.trunkline.checker.Journal;
import dev.trunkline.checker.Limits;
import dev.trunkline.checker.Verdict;
import dev.trunkline.embedded.EmbeddedPostgres;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** Tells every story twice, and looks whether the checker notices. */
public final class SeededBugs {

    /** As the standard ones, but for what is waited for. */
    static final Limits LIMITS =
            new Limits(Limits.standard().recovery(), Limits.standard().unrecorded(), Duration.ofSeconds(3));

    private final EmbeddedPostgres server;
    private final Path directory;
    private final PrintStream out;
    private int told;

    private SeededBugs(EmbeddedPostgres server, Path directory, PrintStream out) {
        this.server = server;
        this.directory = directory;
        this.out = out;
    }

    static List<SeededBug> all() {
        return Stream.of(PublishingBugs.all(), ConsumingBugs.all(), DesignBugs.all())
                .flatMap(List::stream)
                .toList();
    }

    /** Whether every bug was caught by its name, and nothing was found where there was none. */
    public static boolean run(Path directory, PrintStream out) throws Exception {
        try (EmbeddedPostgres server = EmbeddedPostgres.temporary()
                .unsafeFast()
                .setting("track_commit_timestamp", "on")
                .start()) {
            SeededBugs bugs = new SeededBugs(server, directory, out);
            int caught = 0;
            for (SeededBug bug : all()) {
                caught += bugs.isCaught(bug) ? 1 : 0;
            }
            out.printf("%d of %d seeded bugs were caught%n", caught, all().size());
            return caught == all().size();
        }
    }

    private boolean isCaught(SeededBug bug) throws Exception {
        Verdict right = tell(bug, false);
        Verdict wrong = tell(bug, true);
        boolean caught = right.isClean() && wrong.counts().containsKey(bug.breaks());
        out.printf(
                "%-75s %-4s %s%n",
                bug.name(),
                bug.breaks(),
                caught ? "caught" : right.isClean() ? "MISSED: " + wrong.counts() : "FALSE ALARM: " + right.told());
        return caught;
    }

    private Verdict tell(SeededBug bug, boolean flawed) throws Exception {
        told++;
        Path journals = Files.createDirectories(directory.resolve(told + (flawed ? "-flawed" : "-right")));
        String database = "story_" + told;
        server.createDatabase(database);
        try (Journal journal = Journal.create(journals, "story");
                Miniature log = new Miniature(server.dataSource(database), journal)) {
            bug.story().tell(log, flawed);
            log.conclude();
        }
        return Checker.check(journals, LIMITS);
    }
}
