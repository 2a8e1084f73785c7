package dev.trunkline.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.server.examples.Program;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The script {@code ./trunkline} in a checkout of its own, where everything is built and Java only says what it was called with. */
class LauncherTest {

    @TempDir
    Path checkout;

    private void write(String file, String text) throws IOException {
        Path path = checkout.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
        assertThat(path.toFile().setExecutable(true)).isTrue();
    }

    @Test
    void it_gives_java_a_locale_that_knows_all_characters_and_says_whether_errors_are_seen() throws Exception {
        write("trunkline", Files.readString(Path.of("..", "trunkline")));
        write("server/target/trunkline.jar", "");
        write(
                "jdk/bin/java",
                "#!/bin/sh\nif [ \"$1\" = -version ]; then echo 'openjdk version \"21.0.1\"' >&2; else locale charmap; echo $LC_ALL $TRUNKLINE_STDERR; fi\n");
        Program.assumeFound("locale");
        String jdk = checkout.resolve("jdk").toString();
        List<String> ascii =
                Program.run(checkout, Map.of("TRUNKLINE_JAVA_HOME", jdk, "LC_ALL", "C"), "sh", "trunkline", "tail");
        assertThat(ascii.getFirst()).isEqualTo("UTF-8");
        assertThat(ascii.getLast()).endsWith(" file");
        List<String> utf8 = Program.run(
                checkout, Map.of("TRUNKLINE_JAVA_HOME", jdk, "LC_ALL", "C.UTF-8"), "sh", "trunkline", "tail");
        assertThat(utf8).containsExactly("UTF-8", "C.UTF-8 file");
    }

    @Test
    void it_starts_where_there_is_no_home() throws Exception {
        write("trunkline", Files.readString(Path.of("..", "trunkline")));
        write("server/target/trunkline.jar", "");
        write(
                "jdk/bin/java",
                "#!/bin/sh\nif [ \"$1\" = -version ]; then echo 'openjdk version \"21.0.1\"' >&2; else echo \"$@\"; fi\n");
        List<String> said = Program.run(
                checkout,
                Map.of("TRUNKLINE_JAVA_HOME", checkout.resolve("jdk").toString()),
                "env",
                "-u",
                "HOME",
                "sh",
                "trunkline",
                "topics",
                "list");
        assertThat(said)
                .containsExactly(
                        "-jar " + checkout.toRealPath().resolve("server/target/trunkline.jar") + " topics list");
    }
}
