package dev.trunkline.server.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.server.Main;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The walk with curl in {@code README.md}, as it stands there but for the port. */
@Timeout(300)
class QuickStartTest {

    @TempDir
    Path directory;

    @Test
    void the_walk_with_curl_in_the_readme_runs_as_it_stands() throws Exception {
        Program.assumeFound("sh", "curl", "grep", "cut");
        Program.assumeEndsWell(directory, "this curl does not know --json", "curl", "--json", "{}", "--version");
        String port = freePort();
        String document = Files.readString(Path.of("..", "README.md"));
        Matcher block =
                Pattern.compile("(?s)```sh\\R(\\./trunkline serve.*?)```").matcher(document);
        assertThat(block.find()).isTrue();
        String commands = block.group(1);
        assertThat(commands).contains("./trunkline serve", ":8787/");
        writeLauncher();
        // A refusal of the server is a failure of curl.
        Files.writeString(directory.resolve(".curlrc"), "fail-with-body\nsilent\nshow-error\nwrite-out = \"\\n\"\n");
        Files.writeString(
                directory.resolve("quick-start.sh"),
                "trap 'kill $!; wait $! || true' EXIT\n" + commands.replace(":8787/", ":" + port + "/")
                        + "curl -H \"$H\" $U/orders/groups/shared\n");
        List<String> said = Program.run(
                directory,
                Map.of("TRUNKLINE_PORT", port, "CURL_HOME", directory.toString()),
                "sh",
                "-eu",
                "quick-start.sh");
        assertThat(said).anyMatch(line -> line.contains("customer-7") && line.contains("12.50"));
        assertThat(said).contains("{\"left\":[]}");
        assertThat(said).anyMatch(line -> line.contains("\"pending\":0") && line.contains("\"done\":1"));
        assertThat(directory.resolve("trunkline-data")).isDirectory();
    }

    /** What {@code ./trunkline} does once everything is built. */
    private void writeLauncher() throws IOException {
        Path launcher = directory.resolve("trunkline");
        Files.writeString(
                launcher,
                "#!/bin/sh\nexec '" + Path.of(System.getProperty("java.home"), "bin", "java") + "' -cp '"
                        + System.getProperty("java.class.path") + "' " + Main.class.getName() + " \"$@\"\n");
        assertThat(launcher.toFile().setExecutable(true)).isTrue();
    }

    private static String freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return Integer.toString(socket.getLocalPort());
        }
    }
}
