package dev.trunkline.checker;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.nio.charset.StandardCharsets;

/** See docs/fuzzing.md. */
class EventFuzzTest {

    @FuzzTest(maxDuration = "2m")
    void a_line_is_read_or_refused(byte[] bytes) {
        new String(bytes, StandardCharsets.UTF_8).lines().forEach(line -> EventLinesTest.readOrRefuse(line, "fuzzed"));
    }
}
