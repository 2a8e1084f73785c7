package dev.trunkline.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.rig.ChildJvm;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

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
            assertThatOtherCommandsReachIt(Objects.requireNonNull(first.readLine()));
            assertThat(status(request(url + "/v1/topics")
                            .header("Authorization", "Bearer " + key)
                            .POST(BodyPublishers.ofString("{\"name\": \"stays\"}"))))
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

    /** As the line that it has printed says, in a shell. */
    private static void assertThatOtherCommandsReachIt(String line) throws Exception {
        assertThat(line).endsWith(" ./trunkline doctor");
        String environment = line.substring(line.indexOf("TRUNKLINE_URL"), line.indexOf(" ./trunkline"));
        Process keys = new ProcessBuilder(
                        "sh",
                        "-c",
                        environment + " exec \"$@\"",
                        "sh",
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Main.class.getName(),
                        "keys",
                        "list")
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        assertThat(new String(keys.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                .containsPattern("1 +first +READ,PUBLISH,CONSUME,ADMIN");
        assertThat(keys.waitFor()).isZero();
    }

    @Test
    void a_program_gets_the_first_key_and_the_address_as_one_object() throws Exception {
        String[] arguments = Cli.at(Cli.freshDatabase(), "serve", "--port", "0", "--json");
        Path file = directory.resolve("serve.yaml");
        Files.writeString(file, "host: 127.0.0.1\n");
        String[] withFile = Stream.concat(Stream.of(arguments), Stream.of("--config", file.toString()))
                .toArray(String[]::new);
        assertThat(said(arguments).has("firstKey")).isTrue();
        assertThat(said(withFile).has("firstKey")).isFalse();
    }

    private static JsonNode said(String... arguments) throws Exception {
        try (ChildJvm server = ChildJvm.start(Main.class, arguments)) {
            JsonNode said = new JsonMapper().readTree(Objects.requireNonNull(server.readLine()));
            assertThat(status(request(said.get("url").asString() + "/v1/topics")))
                    .isEqualTo(401);
            return said;
        }
    }

    @Test
    void its_flags_come_from_the_environment_too() throws Exception {
        String[] arguments = Cli.at(Cli.freshDatabase(), "serve", "--port", "0");
        try (ChildJvm server = ChildJvm.start(List.of(), Main.class, Map.of("TRUNKLINE_NO_AUTH", "true"), arguments)) {
            assertThat(status(request(url(server) + "/v1/topics"))).isEqualTo(200);
        }
        String[] again = Cli.at(Cli.freshDatabase(), "serve", "--port", "0", "--no-auth");
        try (ChildJvm server = ChildJvm.start(List.of(), Main.class, Map.of("TRUNKLINE_NO_AUTH", "true"), again)) {
            assertThat(status(request(url(server) + "/v1/topics"))).isEqualTo(200);
        }
        Path file = directory.resolve("serve.yaml");
        Files.writeString(file, "behind-tls-proxy: false\nhost: 0.0.0.0\n");
        String[] outside = Cli.at(Cli.freshDatabase(), "serve", "--port", "0", "--config", file.toString());
        try (ChildJvm server =
                ChildJvm.start(List.of(), Main.class, Map.of("TRUNKLINE_BEHIND_TLS_PROXY", "true"), outside)) {
            assertThat(server.readLine()).contains("first key");
            assertThat(server.readLine()).contains("tl_");
            assertThat(url(server)).startsWith("http://0.0.0.0:");
        }
    }

    @Test
    void a_direct_url_is_used_for_what_a_pooler_can_not_do() throws Exception {
        String database = Cli.freshDatabase();
        String direct = Cli.postgres().jdbcUrl(database) + "?ApplicationName=direct-one";
        try (ChildJvm server = ChildJvm.start(
                        Main.class, Cli.at(database, "serve", "--port", "0", "--no-auth", "--direct-url", direct));
                Connection connection = Cli.postgres().dataSource(database).getConnection();
                PreparedStatement query = connection.prepareStatement(
                        "select from pg_stat_activity where application_name = 'direct-one'")) {
            String topics = url(server) + "/v1/topics";
            assertThat(status(request(topics).POST(BodyPublishers.ofString("{\"name\": \"t\"}"))))
                    .isEqualTo(201);
            assertThat(status(request(topics + "/t/messages").POST(BodyPublishers.ofString("{\"text\": \"x\"}"))))
                    .isEqualTo(201);
            // Others are told of the message.
            Awaitility.await()
                    .atMost(Duration.ofMinutes(1))
                    .until(() -> query.executeQuery().next());
        }
        Cli.Result wrong =
                Cli.on(database, "serve", "--port", "0", "--direct-url", "jdbc:postgresql://127.0.0.1:1/none");
        assertThat(wrong.code()).isEqualTo(1);
        assertThat(wrong.err()).hasLineCount(1).contains("Check --direct-url");
    }

    @Test
    void a_database_of_its_own_has_the_schema_that_it_is_told() throws Exception {
        try (ChildJvm server = serve("--no-auth", "--schema", "messages")) {
            url(server);
            assertThat(server.readLine()).contains("TRUNKLINE_SCHEMA=messages");
        }
    }

    private ChildJvm serve(String... more) {
        List<String> arguments = new ArrayList<>(List.of(
                "serve", "--port", "0", "--data", directory.resolve("data").toString()));
        arguments.addAll(List.of(more));
        return ChildJvm.start(Main.class, arguments.toArray(String[]::new));
    }

    @Test
    void it_speaks_tls_and_reads_its_settings_from_a_file() throws Exception {
        Path keystore = directory.resolve("keys.p12");
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-keyalg",
                        "EC",
                        "-alias",
                        "server",
                        "-dname",
                        "CN=localhost",
                        "-ext",
                        "san=ip:127.0.0.1",
                        "-storetype",
                        "PKCS12",
                        "-storepass",
                        "secret",
                        "-keystore",
                        keystore.toString())
                .inheritIO()
                .start();
        assertThat(keytool.waitFor()).isZero();
        Path file = directory.resolve("serve.yaml");
        Files.writeString(file, "no-auth: true\ntls-password: secret\ntls-keystore: " + keystore + "\nport: 1\n");
        KeyStore trusted = KeyStore.getInstance(keystore.toFile(), "secret".toCharArray());
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        try (ChildJvm server = serve("--config", file.toString());
                HttpClient client = HttpClient.newBuilder().sslContext(context).build()) {
            String url = url(server);
            assertThat(url).startsWith("https://").doesNotEndWith(":1");
            assertThat(client.send(request(url + "/v1/topics").build(), BodyHandlers.ofString())
                            .statusCode())
                    .as("nobody is asked for a key")
                    .isEqualTo(200);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "prot: 5, no setting \"prot\"",
        "port: x, is not an int",
        "port: 70000, 0 to 65535",
        "config: a, no setting",
        "port: {a: 1}, is a text or a number",
        "'- port', no YAML",
        "'port: [', no YAML",
        "host: 0.0.0.0, in the clear"
    })
    void a_file_that_makes_no_sense_is_refused(String yaml, String said) throws Exception {
        Path file = directory.resolve("bad.yaml");
        Files.writeString(file, yaml);
        Cli.Result result = Cli.run("serve", "--config", file.toString());
        assertThat(result.code()).isEqualTo(2);
        assertThat(result.err()).contains(said);
    }

    @Test
    void a_port_that_somebody_else_has_is_told() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Cli.Result result = Cli.run(
                    "serve",
                    "--url",
                    Cli.postgres().jdbcUrl(Cli.freshDatabase()),
                    "--user",
                    Cli.postgres().user(),
                    "--password",
                    Cli.postgres().password(),
                    "--port",
                    Integer.toString(taken.getLocalPort()));
            assertThat(result.code()).isEqualTo(1);
            assertThat(result.err())
                    .contains("can not listen at 127.0.0.1:" + taken.getLocalPort(), "Choose another --port");
        }
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
        "--host no.such.host.invalid, no address",
        "--max-requests-per-second 0, use more",
        "--jwt-issuer a, go together",
        "--jwt-issuer a --jwt-audience b --jwt-keys http://example.com/keys, use https",
        "--no-auth --jwt-issuer a --jwt-audience b --jwt-keys https://example.com/keys, use one of them",
        "--user me, give --url",
        "--password secret, give --url",
        "--direct-url jdbc:postgresql:x, give --url",
        "--tls-keystore no-such-file, can not be read",
        "--config no-such-file, can not be read"
    })
    void what_would_not_be_safe_or_possible_is_refused(String arguments, String said) {
        Cli.Result result = Cli.run(("serve " + arguments).split(" "));
        assertThat(result.code()).isEqualTo(2);
        assertThat(result.err()).contains(said);
    }
}
