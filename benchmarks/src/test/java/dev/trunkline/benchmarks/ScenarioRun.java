package dev.trunkline.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.benchmarks.database.Address;
import dev.trunkline.benchmarks.peer.Design;
import dev.trunkline.embedded.EmbeddedPostgres;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Runs scenarios with next to nothing, on a server of its own, and looks at what they report. */
final class ScenarioRun implements AutoCloseable {

    private static final Effort TINY = new Effort(
            0.3,
            0.2,
            1,
            new Effort.Amounts(1_000, 2_000, 2, 2_000, 0.6, 4_000, 2_000, 2_000, 200_000, 2_000, 1.5),
            new Effort.Series(
                    List.of(3), List.of(1, 3), List.of(1, 16), List.of(100, 10_000), List.of(2_000, 4_000), List.of(2)),
            new Effort.Load(List.of(3), 1_000, 1.5));
    /** The others have their own test, and would only take longer. */
    private static final List<Design> SOME =
            List.of(Design.TRUNKLINE, Design.TEXTBOOK_BATCHES, Design.REFERENCE_COUNTS);

    private static final JsonMapper JSON = JsonMapper.builder().build();

    private final EmbeddedPostgres postgres = EmbeddedPostgres.temporary().start();
    final Address address = new Address(postgres.jdbcUrl(), postgres.user(), postgres.password());

    /** Of all scenarios, those that compare with what others have built, or the rest. */
    static Stream<String> names(boolean peers) {
        return Scenario.ALL.stream().map(Scenario::name).filter(name -> name.startsWith("peers") == peers);
    }

    void requireFigures(String name) throws Exception {
        Workbench bench = new Workbench(address, TINY, SOME, what -> {});
        bench.clear();
        List<Result> results = Scenario.find(name).orElseThrow().run(bench);
        assertThat(results).isNotEmpty();
        for (Result result : results) {
            StringWriter line = new StringWriter();
            Report.json(new PrintWriter(line)).add(result);
            assertIsComplete(JSON.readTree(line.toString()), name);
        }
    }

    private static void assertIsComplete(JsonNode result, String scenario) {
        assertThat(result.get("scenario").asString()).startsWith(scenario);
        assertThat(result.get("unit").asString()).isNotBlank();
        assertThat(result.get("baseline").asString()).isNotBlank();
        assertThat(result.get("target").asString()).isNotBlank();
        assertThat(result.get("pass").isBoolean()).isTrue();
        assertThat(result.get("value").asDouble()).isPositive();
        assertThat(result.get("baselineValue").asDouble()).isPositive();
        assertThat(result.get("ratio").asDouble()).isPositive();
        assertThat(result.get("repetitions").asInt()).isPositive();
        assertThat(result.get("spread").get("min").asDouble())
                .isPositive()
                .isLessThanOrEqualTo(result.get("spread").get("max").asDouble());
        assertThat(result.get("details").isObject()).isTrue();
        for (String condition : List.of("logIsExact", "countIsExact", "asManyTransactions", "exitedWithZero")) {
            assertThat(result.get("details").path(condition).asBoolean(true))
                    .as(condition)
                    .isTrue();
        }
    }

    @Override
    public void close() {
        postgres.close();
    }
}
