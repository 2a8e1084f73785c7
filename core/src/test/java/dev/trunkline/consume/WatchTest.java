package dev.trunkline.consume;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** When a session is taken for dead. Its thousands of circumstances are in {@link OwnershipSimulationTest}. */
class WatchTest {

    private static final long NEVER = -1;

    @ParameterizedTest(name = "lease {0}, seen by one of {1}, looks of {2} ms, the {3}th fails: ended after {4} ms")
    @CsvSource({
        "PT10S, PT10S, 5, 0, 10000",
        "PT2S, PT2S, 5, 0, 2000",
        // no lease is rounded down, and a whole number of looks adds up to one's own
        "PT2.9S, PT2.9S, 5, 0, 2900",
        "PT3S, PT2.9S, 5, 0, 3383",
        // a lease is that of whom it is about
        "PT60S, PT2S, 5, 0, 60000",
        "PT2S, PT60S, 5, 0, 2000",
        // slow looks say nothing
        "PT10S, PT10S, 500, 0, 10000",
        "PT10S, PT10S, 501, 0, -1",
        "PT2S, PT2S, 251, 0, -1",
        // neither does one that fails, and it begins anew
        "PT10S, PT10S, 5, 20, 20000",
    })
    void a_session_whose_beat_stands_still_is_ended(Duration lease, Duration own, long took, int fails, long after) {
        Watch watch = new Watch(own);
        long ended = NEVER;
        for (int look = 0; look < 200 && ended == NEVER; look++) {
            if (look > 0 && look == fails - 1) {
                watch.fail();
            } else if (watch.look(Map.of(7L, new Watch.Beat(3, lease)), took * 1_000_000)
                    .containsKey(7L)) {
                ended = look * watch.interval() / 1_000_000;
            }
        }
        assertThat(ended).isEqualTo(after);
    }

    @ParameterizedTest(name = "a beat every {0} looks")
    @CsvSource({"1", "2", "7", "19"})
    void a_session_that_beats_is_never_ended(int every) {
        Watch watch = new Watch(Duration.ofSeconds(10));
        for (int look = 0; look < 1_000; look++) {
            assertThat(watch.look(Map.of(7L, new Watch.Beat(look / every, Duration.ofSeconds(10))), 0))
                    .isEmpty();
        }
    }
}
