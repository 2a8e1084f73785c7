package dev.trunkline.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class InstantWriterTest {

    private final InstantWriter writer = new InstantWriter();

    @ParameterizedTest
    @ValueSource(
            strings = {
                "1970-01-01T00:00:00Z",
                "1969-12-31T23:59:59.999999999Z",
                "2026-11-17T12:00:00Z",
                "2026-11-17T12:00:00.1Z",
                "2026-11-17T12:00:00.001Z",
                "2026-11-17T12:00:00.000001Z",
                "2026-11-17T12:00:00.123450Z",
                "2026-11-17T12:00:00.000000001Z",
                "-4713-11-24T00:00:00Z",
                "+294276-12-31T23:59:59.999999Z"
            })
    void a_time_is_written_as_java_does(String text) {
        Instant time = Instant.parse(text);
        assertThat(writer.text(time)).isEqualTo(time.toString());
    }

    @Test
    void many_times_one_after_the_other_are_written_as_java_does() {
        Random random = new Random(7);
        for (int i = 0; i < 10_000; i++) {
            Instant time = Instant.ofEpochSecond(1_800_000_000L + random.nextInt(3), random.nextInt(1_000_000_000));
            assertThat(writer.text(time)).isEqualTo(time.toString());
        }
    }
}
