package dev.trunkline.faults;

import dev.trunkline.faults.seeded.SeededBugs;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command line of the faults. */
@Command(
        name = "faults",
        mixinStandardHelpOptions = true,
        description = {
            "Does bad things to Trunkline at work, on a server and processes of its own, and checks that it kept its promises.",
            "Every process writes a journal; the checker holds them against C1 to C12."
        },
        footer =
                "Exit code: 0 no promise was broken; 1 one was, something took too long, a trial did not end, or none was run; 2 bad input.")
public final class Main implements Callable<Integer> {

    private static final List<String> QUICK = List.of("F1", "F3", "F7", "F9", "F11");

    /** A day for each fault. */
    private static final int MOST_MINUTES = 24 * 60;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before it calls
    private CommandSpec spec;

    @Parameters(paramLabel = "FAULT", arity = "0..*", description = "Which ones, by name from --list; none: all.")
    private List<String> names = List.of();

    @Option(names = "--list", description = "List the faults and end.")
    private boolean list;

    @Option(names = "--seeded-bugs", description = "Test the checker: it must catch mistakes that are made on purpose.")
    private boolean seededBugs;

    @Option(names = "--quick", description = "Some faults for some seconds, in less than three minutes.")
    private boolean quick;

    @Option(names = "--minutes", paramLabel = "N", description = "Minutes for each fault (default: 1, quick: 0.04).")
    private @Nullable Double minutes;

    @Option(
            names = "--seed",
            paramLabel = "N",
            description = "What chance is made from (default: a new one, which is printed).")
    private @Nullable Long seed;

    @Option(
            names = "--journals",
            paramLabel = "DIR",
            description = "Where journals are kept; else they are deleted if all is well.")
    private @Nullable Path journals;

    @Option(names = "--report", paramLabel = "FILE", description = "Write a page of what came of it.")
    private @Nullable Path page;

    @Option(
            names = "--postgres",
            paramLabel = "N",
            description = "Major version of the server: 15 to 18 (default: 18).")
    private int postgres = Versions.NEWEST;

    @Option(
            names = "--json",
            description =
                    "Print one JSON object a line, the last for all of them; what is for people goes to standard error.")
    private boolean json;

    private Main() {}

    public static void main(String[] arguments) {
        System.exit(new CommandLine(new Main()).execute(arguments));
    }

    @Override
    public Integer call() throws Exception {
        if (!Versions.ALL.contains(postgres)) {
            throw new ParameterException(
                    spec.commandLine(), "--postgres " + postgres + ": there are the versions " + Versions.ALL);
        }
        if (minutes != null && !(minutes > 0 && minutes <= MOST_MINUTES)) {
            throw new ParameterException(
                    spec.commandLine(), "--minutes " + minutes + ": more than 0, and " + MOST_MINUTES + " at most");
        }
        List<Fault> chosen = chosen();
        if (list) {
            Report.list(System.out, chosen, json);
            return 0;
        }
        if (seededBugs) {
            Path directory = Files.createTempDirectory("trunkline-faults-");
            boolean caught = SeededBugs.run(directory, story());
            if (caught) {
                delete(directory);
            } else {
                story().println("journals: " + directory);
            }
            if (json) {
                System.out.println("{\"allCaught\":" + caught + "}");
            }
            return caught ? 0 : 1;
        }
        long first = seed == null ? new Random().nextLong(1_000_000_000) : seed;
        Report report = new Report(System.out, first, json);
        prepare(report);
        for (Fault fault : chosen) {
            run(fault, first, report);
            write(report);
        }
        return report.conclude() ? 0 : 1;
    }

    /** What can not be written is found before hours have passed. */
    private void prepare(Report report) {
        try {
            if (journals != null) {
                Files.createDirectories(journals);
            }
            write(report);
        } catch (IOException e) {
            throw new ParameterException(spec.commandLine(), "nothing can be written there: " + e.getMessage(), e);
        }
    }

    private void write(Report report) throws IOException {
        if (page != null) {
            report.write(page, "./trunkline faults " + String.join(" ", arguments()), postgres);
        }
    }

    private List<Fault> chosen() {
        if (names.isEmpty() && !quick) {
            return Catalogue.all();
        }
        List<Fault> chosen = new ArrayList<>();
        for (String name : new LinkedHashSet<>(names.isEmpty() ? QUICK : names)) {
            chosen.add(Catalogue.find(name)
                    .orElseThrow(() -> new ParameterException(
                            spec.commandLine(), "no fault is called \"" + name + "\": --list tells their names")));
        }
        return chosen;
    }

    /** Where goes what is for people. */
    private PrintStream story() {
        return json ? System.err : System.out;
    }

    /** As they were given. */
    private List<String> arguments() {
        return spec.commandLine().getParseResult().originalArgs();
    }

    private Duration duration() {
        double chosen = minutes == null ? (quick ? 0.04 : 1) : minutes;
        return Duration.ofMillis((long) (chosen * 60_000));
    }

    private void run(Fault fault, long firstSeed, Report report) throws IOException {
        String lack = fault.lacks(postgres).orElse(null);
        if (lack != null) {
            report.skip(fault, lack);
            return;
        }
        Path directory = journals == null
                ? Files.createTempDirectory("trunkline-faults-")
                : Files.createTempDirectory(Files.createDirectories(journals), fault.id() + "-" + firstSeed + "-");
        Thread interrupted = new Thread(() -> story().println("interrupted; journals: " + directory));
        Runtime.getRuntime().addShutdownHook(interrupted);
        boolean clean = false;
        try (Trial trial = new Trial(fault, postgres, directory, firstSeed)) {
            Trial.Result result = trial.run(duration());
            report.add(fault, result);
            clean = result.isAsItShouldBe(fault) && !result.isLate();
            if (!result.isAsItShouldBe(fault)) {
                result.problem().ifPresent(Exception::printStackTrace);
                result.verdict().print(story());
            }
        } catch (Exception e) {
            report.fail(fault, e);
            e.printStackTrace();
        }
        removeHook(interrupted);
        if (clean && journals == null) {
            delete(directory);
        } else {
            story().println("journals: " + directory);
        }
    }

    private static void removeHook(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // on its way out: it is said already
        }
    }

    /** With all that is in it, if it is there. */
    static void delete(Path directory) throws IOException {
        if (!Files.exists(directory)) {
            return;
        }
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
