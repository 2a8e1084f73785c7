package dev.trunkline.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A few faults, each for a few seconds. */
@Timeout(600)
class TrialTest {

    @TempDir
    Path journals;

    @ParameterizedTest
    @ValueSource(strings = {"F1", "F3", "F7", "F11", "F30"})
    void no_promise_is_broken(String id) throws Exception {
        long seed = new Random().nextLong(1_000_000_000);
        Fault fault = Catalogue.find(id).orElseThrow();
        try (Trial trial = new Trial(fault, journals, seed)) {
            Trial.Result result = trial.run(Duration.ofSeconds(4));
            assertThat(result.verdict().told()).as("%s, seed %d", id, seed).isEmpty();
            assertThat(result.problem()).as("%s, seed %d", id, seed).isEmpty();
            assertThat(result.events()).isPositive();
            assertThat(result.verdict().figures().handled()).isPositive();
        }
    }
}
