package dev.trunkline.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Where a tail goes on is read again as it was said, or refused. */
class PositionTest {

    private static final TopicLog TOPIC = new TopicLog("t", 77, 2, 1, List.of());

    @Test
    void a_position_is_read_as_it_was_said() {
        long[] offsets = {0, 4_000_000_000_000_000_000L};
        assertThat(Position.parse(Position.text(TOPIC, offsets), TOPIC)).containsExactly(offsets);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "-",
                "25",
                "25-",
                "25-1",
                "25-1-",
                "25--1",
                "25-1-1-1",
                "25-1-A",
                "25-1-1234567890123",
                "26-1-1"
            })
    void anything_else_is_refused(String text) {
        assertRefused(text);
    }

    @Test
    void so_is_a_very_long_one() {
        assertRefused("25" + "-1".repeat(8_000));
        assertRefused("-".repeat(100_000));
        assertRefused("1".repeat(100_000) + "-1-1");
    }

    private static void assertRefused(String text) {
        assertThatThrownBy(() -> Position.parse(text, TOPIC))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("this is no position in topic \"t\"");
    }
}
