package dev.trunkline.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReportTest {

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);
    private final Fault fault = Catalogue.find("F1").orElseThrow();

    private List<String> lines() {
        return bytes.toString(StandardCharsets.UTF_8).lines().toList();
    }

    @Test
    void programs_get_a_json_object_a_line_and_nothing_else() {
        Report report = new Report(out, 7, true);
        report.skip(fault, "another system");
        report.fail(fault, new IllegalStateException("at home"));
        report.conclude();
        Report.list(out, List.of(fault), true);
        assertThat(lines()).hasSize(4).allMatch(line -> line.startsWith("{") && line.endsWith("}"));
        assertThat(lines().get(0))
                .startsWith("{\"fault\":\"F1\",\"title\":\"")
                .contains("\"skipped\":\"needs another system\"");
        assertThat(lines().get(1))
                .contains("\"didNotEnd\":\"IllegalStateException\"")
                .doesNotContain("at home");
        assertThat(lines().get(2)).contains("\"seed\":7", "\"trials\":0", "\"violations\":0");
        assertThat(lines().get(3)).startsWith("{\"fault\":\"F1\"");
    }

    @Test
    void people_get_a_table() {
        Report report = new Report(out, 7, false);
        report.skip(fault, "another system");
        report.conclude();
        assertThat(lines()).first().isEqualTo("seed 7");
        assertThat(lines().get(2)).startsWith("F1").endsWith("skipped: needs another system");
        assertThat(lines().getLast()).contains("0 events in 0 trials");
    }
}
