package dev.trunkline.benchmarks;

import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every scenario with peers runs and says what it should say, as those of {@link ScenariosTest} do. */
class PeerScenariosTest {

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
        return ScenarioRun.names(true);
    }

    @ParameterizedTest
    @MethodSource("names")
    void a_scenario_reports_its_figures_with_what_they_were_compared_with(String name) throws Exception {
        run.requireFigures(name);
    }
}
