package dev.trunkline.jackson;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.trunkline.Codec;
import dev.trunkline.InvalidMessageException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.json.JsonMapper;

class JacksonCodecTest {

    private final JacksonCodec codec = new JacksonCodec();

    record Line(String article, int count) {}

    record OrderPlaced(long number, Instant at, Duration patience, Optional<String> note, List<Line> lines) {}

    record Ping() {}

    static final class Hidden {
        @SuppressWarnings("unused") // that nobody can see it is the point
        private final int count = 3;
    }

    record Anything(Object value) {}

    private static final OrderPlaced ORDER = new OrderPlaced(
            42,
            Instant.parse("2026-11-15T21:00:00.123456Z"),
            Duration.ofMinutes(90),
            Optional.of("grüß Gott 🚚"),
            List.of(new Line("nut", 3), new Line("bolt", 4)));

    @Test
    void a_record_with_times_and_nested_records_comes_back_equal() {
        assertThat(codec.decode(codec.encode(ORDER), OrderPlaced.class)).isEqualTo(ORDER);
    }

    @Test
    void times_are_written_as_text() {
        assertThat(new String(codec.encode(ORDER), UTF_8))
                .contains("\"at\":\"2026-11-15T21:00:00.123456Z\"")
                .contains("\"patience\":\"PT1H30M\"");
    }

    @Test
    void the_service_loader_finds_it() {
        assertThat(ServiceLoader.load(Codec.class))
                .singleElement()
                .isInstanceOf(JacksonCodec.class)
                .extracting(Codec::contentType)
                .isEqualTo("application/json");
    }

    @Test
    void a_mapper_of_the_caller_decides_how_types_are_written() {
        Codec snake = new JacksonCodec(JsonMapper.builder()
                .propertyNamingStrategy(PropertyNamingStrategies.UPPER_CAMEL_CASE)
                .build());
        assertThat(new String(snake.encode(new Line("nut", 3)), UTF_8)).contains("\"Article\":\"nut\"");
    }

    @Test
    void properties_that_the_type_does_not_have_are_ignored() {
        assertThat(decode("{\"article\":\"nut\",\"count\":3,\"colour\":\"red\"}", Line.class))
                .isEqualTo(new Line("nut", 3));
    }

    @Test
    void what_is_not_json_of_the_type_is_refused_with_type_reason_and_advice() {
        for (String bad : List.of(
                "",
                "{",
                "null",
                "[]",
                "{\"article\":\"nut\",\"count\":\"many\"}",
                "{\"article\":\"nut\",\"count\":3} x",
                "\u0000\u0001")) {
            assertThatExceptionOfType(InvalidMessageException.class)
                    .as(bad)
                    .isThrownBy(() -> decode(bad, Line.class))
                    .withMessageContaining(
                            "can not decode " + bad.length() + " bytes of JSON as " + Line.class.getName())
                    .withMessageContaining("read the payload as bytes");
        }
    }

    @Test
    void an_error_says_where_but_does_not_repeat_the_payload() {
        assertThatExceptionOfType(InvalidMessageException.class)
                .isThrownBy(() -> decode("{\"article\":\"secret\",\"count\":[]}", Line.class))
                .withMessageContaining("line 1, column")
                .satisfies(e -> assertThat(e.getMessage()).doesNotContain("secret"));
    }

    @Test
    void what_jackson_can_not_write_is_refused_with_its_type() {
        List<Object> cycle = new ArrayList<>();
        cycle.add(cycle);
        for (Object bad : List.of(new Hidden(), new Anything(new Object()), cycle)) {
            assertThatExceptionOfType(InvalidMessageException.class)
                    .isThrownBy(() -> codec.encode(bad))
                    .withMessageContaining("can not encode a " + bad.getClass().getName() + " as JSON");
        }
    }

    @Test
    void a_record_without_components_is_an_empty_object() {
        assertThat(codec.decode(codec.encode(new Ping()), Ping.class)).isEqualTo(new Ping());
    }

    @Test
    void a_message_does_not_choose_the_class_it_is_decoded_as() {
        String bait = "{\"value\":[\"java.util.concurrent.atomic.AtomicInteger\",7]}";
        assertThat(decode(bait, Anything.class).value())
                .isEqualTo(List.of("java.util.concurrent.atomic.AtomicInteger", 7));
        String typed = "{\"value\":{\"@class\":\"java.util.concurrent.atomic.AtomicInteger\"}}";
        assertThat(decode(typed, Anything.class).value())
                .isEqualTo(Map.of("@class", "java.util.concurrent.atomic.AtomicInteger"));
    }

    @Test
    void what_is_nested_too_deep_or_a_number_too_long_is_refused() {
        for (String bad : List.of("[".repeat(201) + "]".repeat(201), "1".repeat(1001))) {
            assertThatExceptionOfType(InvalidMessageException.class).isThrownBy(() -> decode(bad, Object.class));
        }
        assertThat(decode("[".repeat(200) + "]".repeat(200), Object.class)).isNotNull();
    }

    private <T> T decode(String json, Class<T> type) {
        return codec.decode(json.getBytes(UTF_8), type);
    }
}
