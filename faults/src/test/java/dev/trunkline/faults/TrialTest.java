package dev.trunkline.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A few faults, each for a few seconds. {@code -Dseed=N} does the same again; the journals of what fails are kept. */
@Tag("fault")
@Timeout(600)
class TrialTest {

    private static final long SEED = Long.getLong("seed", new Random().nextLong(1_000_000_000));

    @TempDir(cleanup = CleanupMode.ON_SUCCESS)
    Path journals;

    @ParameterizedTest
    @ValueSource(strings = {"F1", "F3", "F7", "F9", "F11", "F30"})
    void no_promise_is_broken(String id) throws Exception {
        Fault fault = Catalogue.find(id).orElseThrow();
        try (Trial trial = new Trial(fault, journals, SEED)) {
            Trial.Result result = trial.run(Duration.ofSeconds(4));
            String which = "%s, seed %d, journals in %s".formatted(id, SEED, journals);
            assertThat(result.verdict().told()).as(which).isEmpty();
            assertThat(result.problem()).as(which).isEmpty();
            assertThat(result.events()).as(which).isPositive();
            assertThat(result.verdict().figures().handled()).as(which).isPositive();
        }
    }
}
