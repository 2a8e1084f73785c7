package dev.trunkline.jackson;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.trunkline.rig.HostileInputs;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

/** A file is read as it is written, or refused by its place. See docs/fuzzing.md. */
class ConfigurationFuzzTest {

    private static final Map<String, String> ENVIRONMENT = Map.of("A", "a", "EMPTY", "");

    private static Configuration read(String yaml) {
        return new Configuration(Setting.parse(yaml, ENVIRONMENT::get));
    }

    @FuzzTest(maxDuration = "2m")
    void a_file_is_read_or_refused(byte[] bytes) {
        try {
            assertThat(read(new String(bytes, StandardCharsets.UTF_8)).groups()).isNotNull();
        } catch (IllegalArgumentException e) {
            assertThat(e.getMessage()).isNotBlank();
        }
    }

    /** JSON is YAML too: every character can be written in it. */
    private static String quoted(String text) {
        return new JsonMapper().writeValueAsString(text);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "groups: [{groupId: %s, topic: t, start: now}]",
                "groups: [{groupId: g, topic: %s, start: now}]",
                "groups: [{topic: t, start: %s}]",
                "groups: [{topic: t, start: now, batchUnit: %s}]",
                "groups: [{topic: t, start: now, window: %s}]",
                "groups: [{topic: t, start: now, retry: {exhausted: %s}}]",
                "groups: [{topic: t, start: now, %s: 1}]",
                "%s: 1",
                "leaseMs: %s",
                "database: {schema: %s}",
                "database: {url: %s, user: u, password: p}",
                "database: {url: 'jdbc:postgresql:x', user: %s, password: p}"
            })
    void bad_texts_are_read_as_they_are_or_refused(String file) {
        List<String> wrong = new ArrayList<>();
        for (String text : HostileInputs.names()) {
            String literal = text.replace("${", "$${");
            try {
                Configuration configuration = read(file.replace("%s", quoted(literal)));
                if (file.contains("groupId: %s")
                        && !configuration.groups().getFirst().groupId().equals(text)) {
                    wrong.add(HostileInputs.show(text) + " was read as another group");
                }
                if (file.contains("topic: %s")
                        && !configuration.groups().getFirst().topic().equals(text)) {
                    wrong.add(HostileInputs.show(text) + " was read as another topic");
                }
            } catch (IllegalArgumentException e) {
                if (e.getMessage() == null || e.getMessage().isBlank()) {
                    wrong.add(HostileInputs.show(text) + " was refused without a reason");
                }
            } catch (RuntimeException e) {
                wrong.add(HostileInputs.show(text) + ": " + e);
            }
        }
        assertThat(wrong).as(file).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"${A:%s}", "${ABSENT:%s}", "$${%s", "%s"})
    void a_text_may_be_long(String around) {
        String topic = around.replace("%s", "x".repeat(1_000_000));
        assertThat(read("groups: [{topic: " + quoted(topic) + ", start: now}]").groups())
                .hasSize(1);
    }
}
