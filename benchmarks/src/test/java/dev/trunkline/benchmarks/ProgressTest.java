package dev.trunkline.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What somebody at a terminal sees of a run. */
class ProgressTest {

    private final ByteArrayOutputStream seen = new ByteArrayOutputStream();

    @Test
    void a_line_tells_the_part_that_is_done_of_all_scenarios() {
        Progress progress = progress(true, 2);
        progress.begin("drain");
        assertThat(lines().getLast())
                .startsWith("drain [....")
                .doesNotContain("%")
                .endsWith("making room");
        progress.say("drain: 3 of 4, group");
        assertThat(lines().getLast())
                .startsWith("drain [######..................] 25 %  0:")
                .endsWith("3 of 4, group");
        progress.begin("latency");
        progress.say("latency: warming up notify");
        assertThat(lines().getLast()).startsWith("latency [############............] 50 %");
    }

    @Test
    void a_second_contest_of_a_scenario_does_not_take_the_bar_back() {
        Progress progress = progress(true, 1);
        progress.begin("fan-out");
        progress.say("fan-out-4: 2 of 2, counts");
        progress.say("fan-out-16: 1 of 2, trunkline");
        assertThat(lines().getLast()).startsWith("fan-out-16 [############............] 50 %");
    }

    @Test
    void a_line_never_wraps_and_is_cleared_in_the_end() {
        Progress progress = progress(true, 1);
        progress.begin("memory");
        progress.say("memory: " + "x".repeat(500));
        assertThat(lines().getLast()).hasSize(79);
        progress.clear();
        assertThat(seen.toString(StandardCharsets.UTF_8)).endsWith("\r\u001b[K");
    }

    @Test
    void nothing_is_written_where_nobody_sees_it() {
        Progress progress = progress(false, 1);
        progress.begin("memory");
        progress.say("memory: 1 of 2");
        progress.clear();
        assertThat(seen.size()).isZero();
    }

    private Progress progress(boolean terminal, int scenarios) {
        return new Progress(new PrintStream(seen, true, StandardCharsets.UTF_8), terminal, scenarios);
    }

    private List<String> lines() {
        return new ArrayList<>(List.of(seen.toString(StandardCharsets.UTF_8).split("\r\u001b\\[K")));
    }
}
