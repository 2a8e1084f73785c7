package dev.trunkline.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.benchmarks.database.Address;
import dev.trunkline.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What {@code --report} leaves in its directory. */
class ReportTest {

    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final Pattern CHART = Pattern.compile("!\\[[^]]*]\\(([^)]+)\\)");
    private static final Pattern ABSOLUTE_PATH = Pattern.compile("(?<![\\w.<])/(tmp|home|root|usr|var|work|Users)/");

    private static EmbeddedPostgres postgres;
    private static Address address;

    @TempDir
    private Path directory;

    @BeforeAll
    static void start() {
        postgres = EmbeddedPostgres.temporary().start();
        address = new Address(postgres.jdbcUrl(), postgres.user(), postgres.password());
    }

    @AfterAll
    static void stop() {
        postgres.close();
    }

    @Test
    void a_report_grows_by_other_scenarios_and_replaces_the_same() throws Exception {
        Path report = directory.resolve("new/report");
        List<String> printed =
                measured(report, "publish-single", "--seconds=0.2").out();
        assertThat(lines(report, "publish-single")).hasSize(3).endsWith(printed.toArray(String[]::new));
        measured(report, "publish-batch", "--seconds=0.2");
        assertThat(headings(report)).containsSubsequence("## Summary", "## publish-batch", "## publish-single");
        String first = Files.readString(report.resolve("publish-single.jsonl"));
        String other = Files.readString(report.resolve("publish-batch.jsonl"));

        measured(report, "publish-single", "--seconds=0.1");
        assertThat(report.resolve("publish-single.jsonl")).content().isNotEqualTo(first);
        assertThat(report.resolve("publish-batch.jsonl")).content().isEqualTo(other);
        assertThat(report.resolve("README.md")).content().contains("--seconds=0.1", "--seconds=0.2");
        assertHasEveryChart(report, "publish-batch.svg", "publish-single.svg");
        assertTellsNothingPrivate(report);

        Map<String, String> before = contents(report);
        Files.delete(report.resolve("README.md"));
        Files.delete(report.resolve("publish-batch.svg"));
        assertThat(bench("--report=" + report).exitCode()).isZero();
        assertThat(contents(report)).isEqualTo(before);
    }

    @Test
    void the_first_line_tells_what_it_ran_on() throws Exception {
        measured(directory, "publish-single", "--seconds=0.1");
        JsonNode run = JSON.readTree(lines(directory, "publish-single").getFirst());
        assertThat(run.get("command").asString())
                .isEqualTo("./trunkline bench publish-single --seconds=0.1 --json --quick --repetitions=1"
                        + " --url=… --user … --password=… --report=…");
        JsonNode where = run.get("where");
        assertThat(where.get("payloadBytes").asInt()).isEqualTo(200);
        assertThat(where.get("machine").propertyNames()).contains("CPU", "cores", "memory", "system");
        assertThat(where.get("versions").propertyNames()).contains("Java", "PostgreSQL", "PostgreSQL JDBC driver");
        assertThat(where.get("settings").get("fsync").asString()).isEqualTo("on");
    }

    @Test
    void a_chart_that_no_result_has_any_more_is_removed_and_one_of_others_is_kept() throws Exception {
        measured(directory, "publish-single", "--seconds=0.1");
        Files.copy(directory.resolve("publish-single.svg"), directory.resolve("stale.svg"));
        Files.writeString(directory.resolve("logo.svg"), "<svg xmlns='http://www.w3.org/2000/svg'/>");
        assertThat(bench("--report=" + directory).exitCode()).isZero();
        assertThat(contents(directory))
                .containsOnlyKeys("README.md", "logo.svg", "publish-single.jsonl", "publish-single.svg");
    }

    @Test
    void notes_are_part_of_the_report_and_stay() throws Exception {
        Files.writeString(directory.resolve("NOTES.md"), "The machine was busy.\n");
        measured(directory, "publish-single", "--seconds=0.1");
        assertThat(headings(directory)).containsSubsequence("## Summary", "## Notes", "## publish-single");
        assertThat(directory.resolve("README.md")).content().contains("The machine was busy.");
        assertThat(directory.resolve("NOTES.md")).content().isEqualTo("The machine was busy.\n");
    }

    @Test
    void trunkline_alone_is_no_comparison() throws Exception {
        Outcome outcome = bench(
                "peers-fan-out",
                "--systems=textbook",
                "--groups=1",
                "--seconds=0.1",
                "--repetitions=1",
                "--url=" + address.url(),
                "--user=" + address.user(),
                "--password=" + address.password(),
                "--report=" + directory);
        assertThat(outcome.exitCode()).isEqualTo(1);
        assertThat(outcome.err()).contains("peers-fan-out: none of the systems can be compared with Trunkline there");
        assertThat(contents(directory)).isEmpty();
    }

    @Test
    void a_scenario_that_fails_writes_nothing() throws Exception {
        // Some other installation's schema is in the way, and a user that may not drop it.
        try (var connection = address.connect();
                var statement = connection.createStatement()) {
            statement.execute("create role nobody_much login password 'x'");
            statement.execute("create schema trunkline_bench_in_the_way");
        }
        Outcome outcome = bench(
                "publish-single",
                "--url=" + address.url(),
                "--user=nobody_much",
                "--password=x",
                "--report=" + directory);
        assertThat(outcome.exitCode()).isEqualTo(1);
        assertThat(outcome.err()).contains("bench: publish-single failed: ");
        assertThat(contents(directory)).isEmpty();
    }

    @Test
    void a_file_is_refused_as_a_report() throws Exception {
        Path file = Files.writeString(directory.resolve("file"), "mine");
        assertRefused("that is a file, and a report is a directory", "--report=" + file);
        assertRefused("that is a file", "publish-single", "--report=" + file);
        assertThat(file).content().isEqualTo("mine");
    }

    @Test
    void a_directory_without_results_is_refused_when_there_is_nothing_to_run() throws Exception {
        assertRefused("there are no results yet", "--report=" + directory);
        assertRefused("there are no results yet", "--report=" + directory.resolve("absent"));
        assertThat(contents(directory)).isEmpty();
    }

    @Test
    void the_readme_of_somebody_else_is_kept() throws Exception {
        Files.writeString(directory.resolve("README.md"), "# Mine");
        assertRefused("its README.md is no report", "publish-single", "--report=" + directory);
        assertThat(directory.resolve("README.md")).content().isEqualTo("# Mine");
    }

    @Test
    void a_corrupt_line_is_refused_before_anything_runs_or_is_written() throws Exception {
        measured(directory, "publish-single", "--seconds=0.1");
        Path results = directory.resolve("publish-single.jsonl");
        String good = Files.readString(results);
        for (String bad : List.of("{\"scenario\": \"publish-sin", "{}", "[1]", "")) {
            Files.writeString(results, good + bad + "\n");
            Map<String, String> before = contents(directory);
            assertRefused("line 4 of publish-single.jsonl is not one", "--report=" + directory);
            assertRefused("line 4 of publish-single.jsonl is not one", "publish-batch", "--report=" + directory);
            assertThat(contents(directory)).isEqualTo(before);
        }
        Files.writeString(results, "");
        assertRefused("publish-single.jsonl has 0 lines", "--report=" + directory);
    }

    private static void assertRefused(String reason, String... arguments) {
        Outcome outcome = bench(arguments);
        assertThat(outcome.exitCode()).isEqualTo(2);
        assertThat(outcome.out()).isEmpty();
        assertThat(outcome.err()).contains(reason);
    }

    private static void assertHasEveryChart(Path report, String... charts) throws Exception {
        List<String> linked = CHART.matcher(Files.readString(report.resolve("README.md")))
                .results()
                .map(link -> link.group(1))
                .toList();
        assertThat(linked).containsExactly(charts);
        for (String chart : linked) {
            var root = DocumentBuilderFactory.newDefaultInstance()
                    .newDocumentBuilder()
                    .parse(report.resolve(chart).toFile())
                    .getDocumentElement();
            assertThat(root.getAttribute("role")).isEqualTo("img");
        }
    }

    private static void assertTellsNothingPrivate(Path report) throws IOException {
        assertThat(contents(report))
                .hasSize(5)
                .allSatisfy((name, text) -> assertThat(text)
                        .doesNotContain("jdbc:", report.toString(), address.password())
                        .doesNotContainPattern(ABSOLUTE_PATH));
    }

    private static List<String> lines(Path report, String scenario) throws IOException {
        return Files.readAllLines(report.resolve(scenario + ".jsonl"));
    }

    private static List<String> headings(Path report) throws IOException {
        return Files.readAllLines(report.resolve("README.md")).stream()
                .filter(line -> line.startsWith("## "))
                .toList();
    }

    private static Map<String, String> contents(Path report) throws IOException {
        Map<String, String> contents = new TreeMap<>();
        try (Stream<Path> files = Files.list(report)) {
            for (Path file : files.toList()) {
                contents.put(file.getFileName().toString(), Files.readString(file));
            }
        }
        return contents;
    }

    private record Outcome(int exitCode, List<String> out, String err) {}

    private static Outcome measured(Path report, String... arguments) {
        String[] more = {
            "--json",
            "--quick",
            "--repetitions=1",
            "--url=" + address.url(),
            "--user",
            address.user(),
            "--password=" + address.password(),
            "--report=" + report
        };
        Outcome outcome = bench(
                Stream.concat(Arrays.stream(arguments), Arrays.stream(more)).toArray(String[]::new));
        assertThat(outcome.exitCode()).as(outcome.err()).isZero();
        return outcome;
    }

    private static Outcome bench(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int exitCode = Main.run(new PrintWriter(out, true), new PrintWriter(err, true), arguments);
        return new Outcome(exitCode, out.toString().lines().toList(), err.toString());
    }
}
