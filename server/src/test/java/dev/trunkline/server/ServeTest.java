package dev.trunkline.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.rig.ChildJvm;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code trunkline serve}, as a process of its own. */
@Timeout(180)
class ServeTest {

    private static final String LISTENS = " listens at ";

    @TempDir
    Path directory;

    private static HttpRequest.Builder request(String url) {
        return HttpRequest.newBuilder(URI.create(url)).timeout(Duration.ofSeconds(30));
    }

    private static int status(HttpRequest.Builder request) throws Exception {
        try (HttpClient client = HttpClient.newHttpClient()) {
            return client.send(request.build(), BodyHandlers.ofString()).statusCode();
        }
    }

    @Test
    void it_shows_its_first_key_once_keeps_its_data_and_stops_in_order() throws Exception {
        String key;
        try (ChildJvm first = serve()) {
            assertThat(first.readLine()).contains("first key");
            key = Objects.requireNonNull(first.readLine()).strip();
            String url = url(first);
            assertThat(status(request(url + "/v1/topics")
                            .header("Authorization", "Bearer " + key)
                            .POST(HttpRequest.BodyPublishers.ofString("{\"name\": \"stays\"}"))))
                    .isEqualTo(201);
            ProcessHandle.of(first.pid()).orElseThrow().destroy();
            assertThat(first.waitFor(Duration.ofSeconds(60))).isEqualTo(Optional.of(143));
        }
        try (ChildJvm second = serve()) {
            String url = url(second); // without a word about keys
            assertThat(status(request(url + "/v1/topics/stays").header("Authorization", "Bearer " + key)))
                    .isEqualTo(200);
            assertThat(status(request(url + "/v1/topics/stays"))).isEqualTo(401);
        }
    }

    private ChildJvm serve() {
        return ChildJvm.start(
                Main.class,
                "serve",
                "--port",
                "0",
                "--data",
                directory.resolve("data").toString());
    }

    private static String url(ChildJvm server) {
        String line = Objects.requireNonNull(server.readLine());
        assertThat(line).contains(LISTENS);
        return line.substring(line.indexOf(LISTENS) + LISTENS.length());
    }

    @ParameterizedTest
    @CsvSource({
        "--port 70000, 0 to 65535",
        "--port x, is not an int",
        "--max-body-bytes 0, use more",
        "--host 0.0.0.0, in the clear",
        "--host 0.0.0.0 --no-auth, let everybody in",
        "--host no.such.host.invalid, no address"
    })
    void what_would_not_be_safe_or_possible_is_refused(String arguments, String said) {
        Cli.Result result = Cli.run(("serve " + arguments).split(" "));
        assertThat(result.code()).isEqualTo(2);
        assertThat(result.err()).contains(said);
    }
}
