package dev.trunkline.faults;

import com.sun.management.OperatingSystemMXBean;
import dev.trunkline.checker.Figures;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToLongFunction;
import tools.jackson.databind.json.JsonMapper;

/** What came of the trials: a line for each as it ends, for people or as JSON, and in the end all of it as a page. */
final class Report {

    private static final String LINE = "%-4s %-60s %6s %9s %9s %10s %7s %5s %10s  %s%n";

    /** So many trials are all there are, or nearly. */
    private static final int WHOLE = 30;

    private static final int MANY_EVENTS = 1_000;
    private static final int MANY_MESSAGES = 1_000_000;
    /** Seconds, for so many. */
    private static final int CHECKED_IN = 60;

    private static final JsonMapper JSON = new JsonMapper();

    private final PrintStream out;
    private final long seed;
    private final boolean json;
    private final long began = System.nanoTime();
    private final List<String> rows = new ArrayList<>();
    private final Map<Fault, Trial.Result> results = new LinkedHashMap<>();
    private int controls;
    private int skipped;
    private int broken;

    Report(PrintStream out, long seed, boolean json) {
        this.out = out;
        this.seed = seed;
        this.json = json;
        if (!json) {
            out.printf("seed %d%n", seed);
            out.printf(
                    LINE,
                    "",
                    "fault",
                    "events",
                    "published",
                    "handled",
                    "duplicates",
                    "refused",
                    "load",
                    "violations",
                    "");
        }
    }

    /** The names of faults, and what they do. */
    static void list(PrintStream out, List<Fault> faults, boolean json) {
        for (Fault fault : faults) {
            if (json) {
                out.println(JSON.writeValueAsString(fields(fault)));
            } else {
                out.printf("%-4s %s%n", fault.id(), fault.title());
            }
        }
    }

    private static Map<String, Object> fields(Fault fault) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("fault", fault.id());
        fields.put("title", fault.title());
        return fields;
    }

    void add(Fault fault, Trial.Result result) {
        Figures figures = result.verdict().figures();
        List<String> notes = new ArrayList<>();
        // What it says may name places of this machine: that is for who sits before it.
        result.problem().ifPresent(e -> notes.add("BROKE OFF: " + e.getClass().getSimpleName()));
        result.worst().forEach((what, took) -> notes.add(words(what, took)));
        if (result.lost() > 0) {
            notes.add("%,d lost of what the standby lacked".formatted(result.lost()));
        }
        if (fault.loses() && result.isAsItShouldBe(fault)) {
            notes.add("lost something, as it must");
        }
        Map<String, Object> fields = fields(fault);
        fields.put("events", result.events());
        fields.put("published", figures.acknowledged());
        fields.put("handled", figures.handled());
        fields.put("duplicates", figures.duplicates());
        fields.put("load", result.load());
        result.worst().forEach((what, took) -> fields.put(what + ", seconds", took.seconds()));
        fields.put("refused", result.refused());
        fields.put("lost", result.lost());
        fields.put("violations", violations(result));
        fields.put("asItShouldBe", result.isAsItShouldBe(fault));
        line(
                fault,
                fields,
                "%,d".formatted(result.events()),
                "%,d".formatted(figures.acknowledged()),
                "%,d".formatted(figures.handled()),
                "%,d".formatted(figures.duplicates()),
                "%,d".formatted(result.refused()),
                hasBaseline(fault) ? "%.0f%%".formatted(100 * result.load()) : "-",
                "%,d".formatted(violations(result)),
                String.join("; ", notes));
        if (!result.isAsItShouldBe(fault)) {
            broken++;
        }
        if (fault.loses()) {
            controls++;
        } else {
            results.put(fault, result);
        }
    }

    /** Where publishers do the bad thing themselves, they also do it before. */
    private static boolean hasBaseline(Fault fault) {
        return fault.tally() == Tally.STRIKES || fault.tally() == Tally.INPUTS;
    }

    private static String words(String what, Trial.Took took) {
        return "%s %.2f s at most%s"
                .formatted(
                        what,
                        took.seconds(),
                        took.most()
                                .filter(limit -> took.isTooLong())
                                .map(limit -> " (MISSED: %.2f s)".formatted(limit.toMillis() / 1e3))
                                .orElse(""));
    }

    void skip(Fault fault, String lack) {
        Map<String, Object> fields = fields(fault);
        skipped++;
        fields.put("skipped", "needs " + lack);
        line(fault, fields, "", "", "", "", "", "", "", "skipped: needs " + lack);
    }

    void fail(Fault fault, Exception e) {
        // What it says may name places of this machine: that is for who sits before it.
        String what = e.getClass().getSimpleName();
        Map<String, Object> fields = fields(fault);
        fields.put("didNotEnd", what);
        broken++;
        line(fault, fields, "", "", "", "", "", "", "", "did not end: " + what);
    }

    private void line(Fault fault, Map<String, Object> fields, String... cells) {
        if (json) {
            out.println(JSON.writeValueAsString(fields));
        } else {
            List<Object> words = new ArrayList<>(List.of(fault.id(), fault.title()));
            words.addAll(List.of(cells));
            out.printf(LINE, words.toArray());
        }
        rows.add("| " + fault.id() + " | " + fault.title() + " | " + String.join(" | ", cells) + " |");
    }

    private static long violations(Trial.Result result) {
        return result.verdict().counts().values().stream().mapToLong(n -> n).sum();
    }

    /**
     * Prints what all of them came to.
     *
     * @return whether all of it is as it should be, and something was done at all
     */
    boolean conclude() {
        List<String> missed = missed();
        if (json) {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("seed", seed);
            fields.put("trials", results.size());
            fields.put("skipped", skipped);
            fields.put("notAsTheyShouldBe", broken);
            fields.put("events", events(Set.of(Tally.values())));
            fields.put(
                    "violations",
                    results.values().stream().mapToLong(Report::violations).sum());
            fields.put("controls", controls);
            fields.put("checkedInSeconds", checkedIn());
            fields.put("missed", missed);
            out.println(JSON.writeValueAsString(fields));
        } else {
            out.println(sum());
        }
        return broken == 0 && missed.isEmpty() && results.size() + controls > 0;
    }

    /** What was to be reached and was not. How much is done is asked only of who does all of it. */
    private List<String> missed() {
        List<String> missed = new ArrayList<>();
        results.forEach((fault, result) -> result.worst().forEach((what, took) -> {
            if (took.isTooLong()) {
                missed.add(fault.id() + ": " + words(what, took));
            }
        }));
        if (results.size() >= WHOLE) {
            require(missed, "load of %.0f%%".formatted(100 * load()), load() >= 0.5);
            int events = events(Set.of(Tally.values()));
            require(missed, "%,d events".formatted(events), events >= MANY_EVENTS);
            long messages = sum(Figures::acknowledged);
            require(missed, "%,d messages".formatted(messages), messages >= MANY_MESSAGES);
            double checked = checkedIn() * MANY_MESSAGES / Math.max(1, messages);
            if (checked > CHECKED_IN) {
                missed.add("%.0f s to check a million messages".formatted(checked));
            }
        }
        return missed;
    }

    /** How many seconds it took to check all. */
    private double checkedIn() {
        return results.values().stream()
                        .mapToLong(result -> result.verdict().figures().took().toMillis())
                        .sum()
                / 1e3;
    }

    private static void require(List<String> missed, String what, boolean reached) {
        if (!reached) {
            missed.add("only " + what);
        }
    }

    /** What all of them came to, but for controls. */
    private String sum() {
        List<String> missed = missed();
        return "%,d events in %d trials (%,d strikes, %,d late commits and rollbacks of publishers, %,d inputs that nobody expects); messages acknowledged %,d, handled %,d, of these again %,d; effects %,d; checked in %.0f s; load %.0f%% of that before on average; violations %,d; trials that were not as they should be %d%s%s; %s; %.0f minutes"
                .formatted(
                        events(Set.of(Tally.values())),
                        results.size(),
                        events(Set.of(Tally.STRIKES)),
                        events(Set.of(Tally.TRANSACTIONS, Tally.ROLLBACKS)),
                        events(Set.of(Tally.INPUTS)),
                        sum(Figures::acknowledged),
                        sum(Figures::handled),
                        sum(Figures::duplicates),
                        sum(Figures::effects),
                        checkedIn(),
                        100 * load(),
                        results.values().stream().mapToLong(Report::violations).sum(),
                        broken,
                        controls == 0 ? "" : "; controls, which had to lose something, " + controls,
                        skipped == 0 ? "" : "; skipped " + skipped,
                        missed.isEmpty() ? "nothing missed" : "MISSED: " + String.join(", ", missed),
                        (System.nanoTime() - began) / 60e9);
    }

    private int events(Set<Tally> tallies) {
        return results.entrySet().stream()
                .filter(each -> tallies.contains(each.getKey().tally()))
                .mapToInt(each -> each.getValue().events())
                .sum();
    }

    private double load() {
        return results.entrySet().stream()
                .filter(each -> hasBaseline(each.getKey()))
                .mapToDouble(each -> each.getValue().load())
                .average()
                .orElse(0);
    }

    private long sum(ToLongFunction<Figures> figure) {
        return results.values().stream()
                .mapToLong(result -> figure.applyAsLong(result.verdict().figures()))
                .sum();
    }

    /** @param command that all of this was printed by */
    void write(Path file, String command, int postgres) throws IOException {
        var system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
        String page = """
                <!-- Written by ./trunkline faults: do not edit. -->

                # Fault report

                `%s`, seed %d, on %d processors, %.0f GiB, %s %s, Java %s, PostgreSQL %d. Leases of %d s.

                **%s.**

                Each line is a trial of its own: a server, publishers and consumers in processes of their own, all of them writing down what they do; then the
                checker ([what it checks](../checker.md)). Events are how often the bad thing was done (in F7 and F8, by publishers: late commits, transactions rolled back); duplicates are messages that came again after a fault (without one it is a violation, C8);
                refused is what publishers were told that it failed, without a rollback of their own; load is what was handled in a second meanwhile, as a part of what was handled before.

                | | fault | events | published | handled | duplicates | refused | load | violations | |
                |---|---|---|---|---|---|---|---|---|---|
                %s
                """.formatted(
                        command,
                        seed,
                        Runtime.getRuntime().availableProcessors(),
                        system.getTotalMemorySize() / (double) (1 << 30),
                        system.getName(),
                        system.getVersion(),
                        Runtime.version(),
                        postgres,
                        Address.LEASE.toSeconds(),
                        sum(),
                        String.join("\n", rows));
        if (file.getParent() != null) {
            Files.createDirectories(file.getParent());
        }
        Files.writeString(file, page);
    }
}
