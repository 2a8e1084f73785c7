package dev.trunkline.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.trunkline.Start;
import dev.trunkline.TopicPattern;
import java.nio.charset.StandardCharsets;

/** What people write is read, or refused with the reason. See docs/fuzzing.md. */
class ParsersFuzzTest {

    @FuzzTest(maxDuration = "2m")
    void a_place_to_start_is_read_or_refused(byte[] bytes) {
        String text = new String(bytes, StandardCharsets.UTF_8);
        try {
            assertThat(Start.parse(text).mode()).isNotNull();
        } catch (IllegalArgumentException e) {
            assertThat(e).hasMessageContaining("use");
        }
    }

    @FuzzTest(maxDuration = "2m")
    void a_pattern_is_taken_as_it_is_or_refused(byte[] bytes) {
        String text = new String(bytes, StandardCharsets.UTF_16);
        try {
            TopicPattern pattern = TopicPattern.name(text).withNamespace(text).withTask(text);
            assertThat(pattern.name()).isEqualTo(text).isNotEmpty();
            assertThat(StandardCharsets.UTF_8.newEncoder().canEncode(text)).isTrue();
        } catch (IllegalArgumentException e) {
            assertThat(e).hasMessageContaining(text);
        }
    }
}
