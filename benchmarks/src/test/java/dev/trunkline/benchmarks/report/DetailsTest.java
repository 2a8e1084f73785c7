package dev.trunkline.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How figures and details look in the report. */
class DetailsTest {

    @Test
    void single_details_groups_and_lists_become_tables() {
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("system", "kafka");
        details.put("messagesPerSecond", 1_234_567);
        details.put("countIsExact", true);
        details.put("rates", List.of(1.0, 2_500.5));
        details.put("trunkline", Map.of("deadRows", 0.25));
        details.put("counts", Map.of("walBytes", 12_345.6));
        details.put("curve", List.of(Map.of("second", 1), Map.of("second", 2)));
        Markdown text = new Markdown();
        Details.write(text, details);
        assertThat(text.toString().lines())
                .contains(
                        "| messages per second | 1,234,567 |",
                        "| count is exact | yes |",
                        "| rates | 1, 2,501 |",
                        "| detail | trunkline | counts |",
                        "| dead rows | 0.25 |  |",
                        "| wal bytes |  | 12,350 |",
                        "curve:",
                        "| second |",
                        "| 2 |")
                .noneMatch(line -> line.contains("kafka"));
    }

    @Test
    void a_cell_holds_any_text_on_one_line_of_bearable_length() {
        Markdown text = new Markdown();
        Details.write(
                text,
                Map.of(
                        "output",
                        "a | <b>\nc",
                        "many",
                        IntStream.range(0, 5_000).boxed().toList()));
        assertThat(text.toString().lines())
                .contains("| output | a \\| &lt;b><br>c |")
                .allMatch(line -> line.length() < 400);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "0; 0",
                "1; 1",
                "0.5; 0.5",
                "1.614; 1.61",
                "90.23; 90.2",
                "12345.6; 12,350",
                "0.0123456; 0.0123",
                "0.0000123; 1.23e-05",
                "-1234.5; -1,235",
                "NaN; –",
                "Infinity; –"
            })
    void numbers_have_as_many_digits_as_they_are_worth(double value, String words) {
        assertThat(Words.number(value)).isEqualTo(words);
    }

    @Test
    void a_command_is_kept_without_what_is_private() {
        assertThat(Typed.command(List.of(
                        "drain", "--url", "jdbc:x", "--password=p", "--seconds", "2", "--report", "docs/it's here")))
                .isEqualTo("./trunkline bench drain --url … --password=… --seconds 2 --report 'docs/it'\\''s here'");
        assertThat(Typed.command(List.of("--report", "/absolute", "all")))
                .isEqualTo("./trunkline bench --report … all");
    }
}
