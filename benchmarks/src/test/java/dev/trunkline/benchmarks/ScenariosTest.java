package dev.trunkline.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.benchmarks.database.Query;
import dev.trunkline.benchmarks.database.Sql;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.sql.Connection;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.json.JsonMapper;

/** Every scenario without peers runs and says what it should say. Nothing here asserts a duration: that is what running them is for. */
class ScenariosTest {

    private static final JsonMapper JSON = JsonMapper.builder().build();

    private static ScenarioRun run;

    @BeforeAll
    static void start() {
        run = new ScenarioRun();
    }

    @AfterAll
    static void stop() {
        run.close();
    }

    static Stream<String> names() {
        return ScenarioRun.names(false);
    }

    @ParameterizedTest
    @MethodSource("names")
    void a_scenario_reports_its_figures_with_what_they_were_compared_with(String name) throws Exception {
        run.requireFigures(name);
    }

    @Test
    void json_goes_to_the_output_alone_and_nothing_is_left_in_the_database() throws Exception {
        Outcome outcome = bench(
                "publish-single",
                "--json",
                "--quick",
                "--seconds=0.2",
                "--repetitions=1",
                "--url=" + run.address.url(),
                "--user=" + run.address.user(),
                "--password=" + run.address.password());
        assertThat(outcome.exitCode()).as(outcome.err()).isZero();
        assertThat(outcome.out()
                        .lines()
                        .map(line -> JSON.readTree(line).get("scenario").asString()))
                .containsExactly("publish-single-32", "publish-single-256");
        try (Connection connection = run.address.connect()) {
            assertThat(Query.texts(connection, new Sql("").get("leftovers"))).isEmpty();
            assertThat(Query.texts(connection, new Sql("").get("leftoverRoles")))
                    .isEmpty();
        }
    }

    @Test
    void the_list_names_every_scenario() {
        Outcome outcome = bench("--list");
        assertThat(outcome.exitCode()).isZero();
        assertThat(outcome.out().lines().map(line -> line.substring(0, line.indexOf(' '))))
                .containsExactlyElementsOf(
                        Scenario.ALL.stream().map(Scenario::name).toList());
    }

    @ParameterizedTest
    @MethodSource("badInput")
    void bad_input_is_refused_with_a_reason(List<String> arguments, String reason) {
        Outcome outcome = bench(arguments.toArray(String[]::new));
        assertThat(outcome.exitCode()).isEqualTo(2);
        assertThat(outcome.out()).isEmpty();
        assertThat(outcome.err()).contains(reason);
    }

    static Stream<Arguments> badInput() {
        return Stream.of(
                refused("nothing to run"),
                refused("there is no scenario 'publish'", "publish"),
                refused("--seconds 0.0", "memory", "--seconds=0"),
                refused("--seconds NaN", "memory", "--seconds=NaN"),
                refused("Invalid value", "memory", "--seconds=soon"),
                refused("--messages 1000 is not a multiple", "memory", "--messages=1000"),
                refused("--groups [4, 0] are not within", "fan-out", "--groups=4,0"),
                refused("there is no system 'x'", "peers-queue", "--systems=kafka,x"),
                refused("--rate 99 is not within", "fan-out", "--rate=99"),
                refused("--repetitions 0", "memory", "--repetitions=0"),
                refused("--user and --password need --url", "memory", "--user=me"),
                refused("--url needs --user", "memory", "--url=jdbc:postgresql://localhost/x"),
                refused("does not begin with jdbc:postgresql:", "memory", "--url=localhost"),
                refused("cannot connect", "memory", "--url=jdbc:postgresql://127.0.0.1:1/x", "--user=me"));
    }

    private static Arguments refused(String reason, String... arguments) {
        return Arguments.of(List.of(arguments), reason);
    }

    private record Outcome(int exitCode, String out, String err) {}

    private static Outcome bench(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int exitCode = Main.run(new PrintWriter(out, true), new PrintWriter(err, true), arguments);
        return new Outcome(exitCode, out.toString(), err.toString());
    }
}
