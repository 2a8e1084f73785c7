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
import java.util.function.ToLongFunction;
import tools.jackson.databind.json.JsonMapper;

/** What came of the trials: a line for each as it ends, for people or as JSON, and in the end all of it as a page. */
final class Report {

    private static final String LINE = "%-4s %-52s %6s %9s %9s %10s %5s %10s  %s%n";

    private static final JsonMapper JSON = new JsonMapper();

    private final PrintStream out;
    private final long seed;
    private final boolean json;
    private final long began = System.nanoTime();
    private final List<String> rows = new ArrayList<>();
    private final List<Trial.Result> results = new ArrayList<>();
    private int controls;

    Report(PrintStream out, long seed, boolean json) {
        this.out = out;
        this.seed = seed;
        this.json = json;
        if (!json) {
            out.printf("seed %d%n", seed);
            out.printf(LINE, "", "fault", "events", "published", "handled", "duplicates", "load", "violations", "");
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
        result.worst().forEach((what, seconds) -> notes.add("%s %.2f s at most".formatted(what, seconds)));
        if (result.lost() > 0) {
            notes.add("%,d lost of what the standby lacked".formatted(result.lost()));
        }
        Map<String, Object> fields = fields(fault);
        fields.put("events", result.events());
        fields.put("published", figures.acknowledged());
        fields.put("handled", figures.handled());
        fields.put("duplicates", figures.duplicates());
        fields.put("load", result.load());
        fields.put("worstSeconds", result.worst());
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
                "%.0f%%".formatted(100 * result.load()),
                "%,d".formatted(violations(result)) + (fault.loses() ? ", as there must be" : ""),
                String.join("; ", notes));
        if (fault.loses()) {
            controls++;
        } else {
            results.add(result);
        }
    }

    void skip(Fault fault, String lack) {
        Map<String, Object> fields = fields(fault);
        fields.put("skipped", "needs " + lack);
        line(fault, fields, "", "", "", "", "", "", "skipped: needs " + lack);
    }

    void fail(Fault fault, Exception e) {
        // What it says may name places of this machine: that is for who sits before it.
        String what = e.getClass().getSimpleName();
        Map<String, Object> fields = fields(fault);
        fields.put("didNotEnd", what);
        line(fault, fields, "", "", "", "", "", "", "did not end: " + what);
    }

    private void line(Fault fault, Map<String, Object> fields, String... cells) {
        if (json) {
            out.println(JSON.writeValueAsString(fields));
        } else {
            out.printf(
                    LINE,
                    fault.id(),
                    fault.title(),
                    cells[0],
                    cells[1],
                    cells[2],
                    cells[3],
                    cells[4],
                    cells[5],
                    cells[6]);
        }
        rows.add("| " + fault.id() + " | " + fault.title() + " | " + String.join(" | ", cells) + " |");
    }

    private static long violations(Trial.Result result) {
        return result.verdict().counts().values().stream().mapToLong(n -> n).sum();
    }

    /** Prints what all of them came to. */
    void conclude() {
        if (json) {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("seed", seed);
            fields.put("trials", results.size());
            fields.put("events", results.stream().mapToInt(Trial.Result::events).sum());
            fields.put(
                    "violations", results.stream().mapToLong(Report::violations).sum());
            fields.put("controls", controls);
            out.println(JSON.writeValueAsString(fields));
        } else {
            out.println(sum());
        }
    }

    /** What all of them came to, but for controls. */
    private String sum() {
        return "%,d events in %d trials; messages acknowledged %,d, handled %,d, of these again %,d; effects %,d; load %.0f%% of that before on average; violations %,d%s; %.0f minutes"
                .formatted(
                        results.stream().mapToInt(Trial.Result::events).sum(),
                        results.size(),
                        sum(Figures::acknowledged),
                        sum(Figures::handled),
                        sum(Figures::duplicates),
                        sum(Figures::effects),
                        100
                                * results.stream()
                                        .mapToDouble(Trial.Result::load)
                                        .average()
                                        .orElse(0),
                        results.stream().mapToLong(Report::violations).sum(),
                        controls == 0 ? "" : "; controls that had to lose something " + controls,
                        (System.nanoTime() - began) / 60e9);
    }

    private long sum(ToLongFunction<Figures> figure) {
        return results.stream()
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
                checker ([what it checks](../checker.md)). Events are how often the bad thing was done (in F7 and F8, by publishers: late commits, transactions rolled back); duplicates are messages that came again after a fault, none came again without;
                load is what was handled in a second meanwhile, as a part of what was handled before.

                | | fault | events | published | handled | duplicates | load | violations | |
                |---|---|---|---|---|---|---|---|---|
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
