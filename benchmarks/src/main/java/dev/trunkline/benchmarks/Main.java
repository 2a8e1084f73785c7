package dev.trunkline.benchmarks;

import dev.trunkline.benchmarks.database.Address;
import dev.trunkline.benchmarks.peer.Design;
import dev.trunkline.benchmarks.report.Folder;
import dev.trunkline.benchmarks.report.Run;
import dev.trunkline.benchmarks.report.Surroundings;
import dev.trunkline.benchmarks.report.Typed;
import dev.trunkline.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command line of the benchmarks. */
@Command(
        name = "bench",
        mixinStandardHelpOptions = true,
        description = {
            "Measures Trunkline against what one would have written without it.",
            "Figures count only as ratios, taken by turns in one run on one database."
        },
        footer = "Exit code: 0 it ran, 1 something failed or, with --strict, missed its target, 2 bad input.")
public final class Main implements Callable<Integer> {

    private static final String ALL = "all";
    private static final int FAILED = 1;
    private static final int MESSAGES_STEP = 2_000;
    private static final int MOST_GROUPS = 1_000;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before it calls
    private CommandSpec spec;

    @Parameters(paramLabel = "NAME", arity = "0..*", description = "What to run: names from --list, or 'all'.")
    private List<String> names = List.of();

    @Option(names = "--list", description = "List the scenarios and end.")
    private boolean list;

    @Option(names = "--json", description = "Print one JSON object a line, and nothing else.")
    private boolean json;

    @Option(names = "--quick", description = "Under a minute for each scenario, with more noise.")
    private boolean quick;

    @Option(names = "--strict", description = "Exit with 1 if a target is missed.")
    private boolean strict;

    @Option(names = "--seconds", paramLabel = "N", description = "Seconds of one turn (default: 3, quick: 0.5).")
    private @Nullable Double seconds;

    @Option(names = "--repetitions", paramLabel = "N", description = "Turns of each side (default: 5, quick: 3).")
    private @Nullable Integer repetitions;

    @Option(
            names = "--messages",
            paramLabel = "N",
            description =
                    "Messages of drain, catch-up-vs-oltp, write-amplification, late-join, memory and memory-drain; a multiple of 2,000.")
    private @Nullable Integer messages;

    @Option(
            names = "--groups",
            paramLabel = "N",
            split = ",",
            description = "Groups of fan-out, peers-fan-out and groups, one contest each.")
    private @Nullable List<Integer> groups;

    @Option(names = "--rate", paramLabel = "N", description = "Messages/s of fan-out (default: 1000).")
    private @Nullable Integer rate;

    @Option(
            names = "--systems",
            paramLabel = "NAME",
            split = ",",
            description =
                    "Systems of the scenarios that compare several (default: all, quick: some). Trunkline is always among them.")
    private @Nullable List<String> systems;

    @Option(
            names = "--url",
            paramLabel = "JDBC",
            description = "A PostgreSQL to measure on, instead of a temporary one. "
                    + "Uses, and drops, the schemas trunkline_bench_*.")
    private @Nullable String url;

    @Option(names = "--user", paramLabel = "U", description = "Its user.")
    private @Nullable String user;

    @Option(names = "--password", paramLabel = "P", description = "The user's password.")
    private @Nullable String password;

    @Option(
            names = "--report",
            paramLabel = "DIR",
            description = "Also put the results there, beside those of earlier runs of other scenarios, "
                    + "with a README.md and charts of all. Without a NAME: only write those again.")
    private @Nullable Path reportDirectory;

    private Main() {}

    public static void main(String[] arguments) {
        PrintWriter out = new PrintWriter(System.out, true, System.out.charset());
        System.exit(run(out, new PrintWriter(System.err, true, System.err.charset()), arguments));
    }

    /** Runs a command line and returns its exit code. */
    static int run(PrintWriter out, PrintWriter err, String... arguments) {
        return new CommandLine(new Main())
                .setOut(out)
                .setErr(err)
                .setExecutionExceptionHandler((problem, command, parsed) -> {
                    err.println("bench: " + problem.getMessage());
                    return FAILED;
                })
                .execute(arguments);
    }

    @Override
    public Integer call() throws Exception {
        if (list) {
            PrintWriter out = spec.commandLine().getOut();
            Scenario.ALL.forEach(scenario -> out.printf("%-23s %s%n", scenario.name(), scenario.summary()));
            return 0;
        }
        Optional<Folder> folder = folder();
        if (names.isEmpty() && folder.isPresent()) {
            return writeAgain(folder.get());
        }
        Order order = new Order(scenarios(), effort(), systems());
        if (folder.isPresent()) {
            folder.get().make();
        }
        if (url != null) {
            return run(order, given(url), folder);
        }
        if (user != null || password != null) {
            throw bad("--user and --password need --url");
        }
        try (EmbeddedPostgres postgres = EmbeddedPostgres.temporary().start()) {
            Address address = new Address(postgres.jdbcUrl(), postgres.user(), postgres.password());
            return run(order, address, folder);
        }
    }

    private List<Scenario> scenarios() {
        if (names.isEmpty()) {
            throw bad("nothing to run: name one or more of " + known() + ", or 'all'");
        }
        if (names.equals(List.of(ALL))) {
            return Scenario.ALL;
        }
        return names.stream()
                .distinct()
                .map(name -> Scenario.find(name)
                        .orElseThrow(() -> bad("there is no scenario '" + name + "', only " + known() + ", and 'all'")))
                .toList();
    }

    private List<Design> systems() {
        if (systems == null) {
            return quick ? Design.FEW : Design.ALL;
        }
        for (String system : systems) {
            if (Design.ALL.stream().noneMatch(design -> design.name().equals(system))) {
                throw bad("there is no system '%s', only %s"
                        .formatted(system, Design.ALL.stream().map(Design::name).collect(Collectors.joining(", "))));
            }
        }
        return Design.ALL.stream()
                .filter(design -> design.equals(Design.TRUNKLINE) || systems.contains(design.name()))
                .toList();
    }

    private Effort effort() {
        Effort effort = quick ? Effort.quick() : Effort.full();
        if (seconds != null) {
            if (!(seconds > 0 && seconds <= 3600)) {
                throw bad("--seconds " + seconds + " is not within 0 and 3600");
            }
            effort = effort.withSeconds(seconds);
        }
        if (repetitions != null) {
            if (repetitions < 1 || repetitions > 1000) {
                throw bad("--repetitions " + repetitions + " is not within 1 and 1000");
            }
            effort = effort.withRepetitions(repetitions);
        }
        if (messages != null) {
            if (messages < MESSAGES_STEP || messages % MESSAGES_STEP != 0) {
                throw bad("--messages " + messages + " is not a multiple of " + MESSAGES_STEP);
            }
            effort = effort.withMessages(messages);
        }
        if (groups != null) {
            if (groups.stream().anyMatch(number -> number < 1 || number > MOST_GROUPS)) {
                throw bad("--groups " + groups + " are not within 1 and " + MOST_GROUPS);
            }
            effort = effort.withGroups(groups);
        }
        if (rate != null) {
            if (rate < FanOut.BATCH || rate > 1_000_000) {
                throw bad("--rate " + rate + " is not within " + FanOut.BATCH + " and 1000000");
            }
            effort = effort.withRate(rate);
        }
        return effort;
    }

    private Address given(String jdbcUrl) {
        if (!jdbcUrl.startsWith("jdbc:postgresql:")) {
            throw bad("--url " + jdbcUrl + " does not begin with jdbc:postgresql:");
        }
        if (user == null) {
            throw bad("--url needs --user");
        }
        Address address = new Address(jdbcUrl, user, password == null ? "" : password);
        try (Connection connection = address.connect()) {
            connection.isValid(10);
        } catch (SQLException e) {
            throw bad("cannot connect to " + address + ": " + e.getMessage());
        }
        return address;
    }

    private Optional<Folder> folder() throws IOException {
        if (reportDirectory == null) {
            return Optional.empty();
        }
        Map<String, String> summaries = new LinkedHashMap<>();
        Scenario.ALL.forEach(scenario -> summaries.put(scenario.name(), scenario.summary()));
        try {
            return Optional.of(Folder.open(reportDirectory, summaries));
        } catch (IllegalArgumentException e) {
            throw bad("--report " + reportDirectory + ": " + e.getMessage());
        }
    }

    private int writeAgain(Folder folder) throws IOException {
        try {
            folder.write();
            return 0;
        } catch (IllegalArgumentException e) {
            throw bad("--report " + reportDirectory + ": " + e.getMessage());
        }
    }

    /** What was asked for. */
    private record Order(List<Scenario> scenarios, Effort effort, List<Design> systems) {}

    private int run(Order order, Address address, Optional<Folder> folder) throws SQLException {
        PrintWriter err = spec.commandLine().getErr();
        PrintWriter out = spec.commandLine().getOut();
        Report report = json ? Report.json(out) : Report.table(out);
        Progress progress = Progress.onTerminal(order.scenarios().size());
        Workbench bench = new Workbench(address, order.effort(), order.systems(), progress::say);
        if (!bench.weakness().isEmpty()) {
            err.println("bench: commits on this database are not durable (" + bench.weakness() + "): figures are void");
        }
        List<String> troubles = new ArrayList<>();
        for (Scenario scenario : order.scenarios()) {
            try {
                progress.begin(scenario.name());
                bench.clear();
                List<Result> results = scenario.run(bench);
                progress.clear();
                results.forEach(report::add);
                if (results.isEmpty()) {
                    troubles.add(scenario.name() + ": none of the systems can be compared with Trunkline there");
                } else if (folder.isPresent()) {
                    folder.get().put(scenario.name(), thisRun(address), Report.lines(results));
                }
                results.stream()
                        .filter(result -> strict && !result.pass())
                        .forEach(result -> troubles.add(result.scenario() + " missed its target"));
            } catch (Exception e) {
                progress.clear();
                troubles.add(scenario.name() + " failed: " + e);
            }
        }
        troubles.forEach(trouble -> err.println("bench: " + trouble));
        bench.remove();
        return troubles.isEmpty() ? 0 : FAILED;
    }

    private Run thisRun(Address address) throws SQLException, IOException {
        String command = Typed.command(spec.commandLine().getParseResult().expandedArgs());
        try (Connection connection = address.connect()) {
            return new Run(
                    Instant.now().truncatedTo(ChronoUnit.SECONDS).toString(),
                    command,
                    Surroundings.seen(connection, url == null, Samples.payload().length));
        }
    }

    private static String known() {
        return Scenario.ALL.stream().map(Scenario::name).collect(Collectors.joining(", "));
    }

    private ParameterException bad(String what) {
        return new ParameterException(spec.commandLine(), what);
    }
}
