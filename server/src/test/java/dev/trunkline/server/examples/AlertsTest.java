package dev.trunkline.server.examples;

import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** {@code docs/observability/alerts.yml}, by Prometheus itself where it is installed. */
class AlertsTest {

    @Test
    void the_rules_are_rules_and_ring_once() throws Exception {
        Program.assumeFound("promtool");
        Path here = Path.of("").toAbsolutePath();
        Program.run(here, Map.of(), "promtool", "check", "rules", "../docs/observability/alerts.yml");
        Program.run(here, Map.of(), "promtool", "test", "rules", "src/test/resources/alerts-test.yml");
    }
}
