package dev.trunkline.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.encoder.JsonEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.trunkline.Message;
import dev.trunkline.RetryPolicy;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.TrunklineException;
import dev.trunkline.rig.ChildJvm;
import dev.trunkline.server.http.ServerOptions;
import dev.trunkline.server.http.Service;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What is logged can be read by machines, and holds nothing that is secret, however much is logged. */
@Timeout(180)
class LogsTest {

    private static final String CANARY = "canary7391";

    @TempDir
    Path directory;

    /** A payload that has a number in it. */
    record Order(int number) {}

    private ChildJvm serve(String format) {
        return serve(format, "DEBUG");
    }

    private ChildJvm serve(String format, String level) {
        return serve(format, level, Cli.freshDatabase());
    }

    private ChildJvm serve(String format, String level, String database) {
        Path log = directory.resolve("log");
        return ChildJvm.start(
                List.of("sh", "-c", "exec \"$@\" 2> " + log, "sh"),
                Main.class,
                Map.of("TRUNKLINE_LOG", format, "TRUNKLINE_LOG_LEVEL", level),
                "serve",
                "--port",
                "0",
                "--no-auth",
                "--url",
                Cli.postgres().jdbcUrl(database),
                "--user",
                Cli.postgres().user(),
                "--password",
                Cli.postgres().password());
    }

    private List<String> logged(ChildJvm server) throws Exception {
        assertThat(Objects.requireNonNull(server.readLine())).contains("listens at");
        server.kill();
        server.waitFor();
        return Files.readAllLines(directory.resolve("log"));
    }

    @Test
    void a_server_logs_for_people_or_for_machines() throws Exception {
        try (ChildJvm server = serve("json")) {
            List<String> lines = logged(server);
            assertThat(lines).isNotEmpty();
            for (String line : lines) {
                JsonNode event = new JsonMapper().readTree(line);
                assertThat(event.at("/level").asString()).as(line).isNotEmpty();
                assertThat(event.at("/timestamp").asLong()).as(line).isPositive();
                assertThat(event.at("/loggerName").asString()).as(line).startsWith("dev.trunkline");
                assertThat(event.at("/formattedMessage").asString()).as(line).isNotEmpty();
            }
        }
        try (ChildJvm server = serve("JSON")) {
            assertThat(logged(server)).isNotEmpty().allMatch(line -> line.startsWith("{"));
        }
        try (ChildJvm server = serve("xml")) {
            assertThat(server.readLine()).isNull();
            assertThat(server.waitFor()).isEqualTo(2);
            assertThat(Files.readString(directory.resolve("log")))
                    .hasLineCount(1)
                    .contains("TRUNKLINE_LOG is \"xml\": use text or json");
        }
        try (ChildJvm server = serve("text")) {
            assertThat(logged(server))
                    .isNotEmpty()
                    .allMatch(line -> line.matches("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:.*"));
        }
    }

    @Test
    void what_a_warning_is_about_is_told_to_machines_as_pairs_and_to_people_in_the_sentence() throws Exception {
        String database = Cli.freshDatabase();
        try (Trunkline trunkline = Trunkline.builder()
                .dataSource(Cli.postgres().dataSource(database))
                .open()) {
            trunkline.topics().create(TopicConfiguration.pubSub("t"));
        }
        try (Connection connection = Cli.postgres().dataSource(database).getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("alter table trunkline.segment_1 rename to gone");
            statement.execute("select trunkline.publish('t', 'can not be relayed'::text)");
        }
        JsonNode event = new JsonMapper().readTree(warning("json", database));
        assertThat(event.at("/formattedMessage").asString()).startsWith("relay of topic \"t\": ");
        assertThat(event.at("/kvpList").toString()).isEqualTo("[{\"topic\":\"t\"}]");
        assertThat(warning("text", database)).matches("\\S+ WARN  \\S+ relay of topic \"t\": .*");
    }

    /** The first line of a server that can not relay. */
    private String warning(String format, String database) throws Exception {
        Path log = directory.resolve("log");
        Files.deleteIfExists(log); // of the server before it
        try (ChildJvm server = serve(format, "warn", database)) {
            Awaitility.await()
                    .atMost(Duration.ofMinutes(2))
                    .until(() -> Files.exists(log) && Files.readString(log).contains("next try in"));
            server.kill();
            server.waitFor();
            return Files.readAllLines(log).getFirst();
        }
    }

    @Test
    void a_level_that_there_is_not_is_refused_and_warning_is_one() throws Exception {
        try (ChildJvm server = serve("text", "verbose")) {
            assertThat(server.readLine()).isNull();
            assertThat(server.waitFor()).isEqualTo(2);
            assertThat(Files.readString(directory.resolve("log")))
                    .hasLineCount(1)
                    .contains("TRUNKLINE_LOG_LEVEL is \"verbose\": use off, error, warn");
        }
        try (ChildJvm server = serve("text", "warning")) {
            assertThat(logged(server)).isEmpty();
        }
    }

    @Test
    void the_server_logs_that_it_starts_and_stops() throws Exception {
        try (ChildJvm server = serve("text", "info")) {
            assertThat(Objects.requireNonNull(server.readLine())).contains("listens at");
            ProcessHandle.of(server.pid()).orElseThrow().destroy();
            server.waitFor();
        }
        assertThat(Files.readAllLines(directory.resolve("log")))
                .anyMatch(line -> line.contains("listens at http://"))
                .anyMatch(line -> line.endsWith(" stops"))
                .last()
                .asString()
                .endsWith(" stopped");
    }

    @Test
    void neither_payloads_nor_keys_nor_passwords_are_logged() throws Exception {
        Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        Logger ours = (Logger) LoggerFactory.getLogger("dev.trunkline");
        Level before = ours.getLevel();
        Logger consume = (Logger) LoggerFactory.getLogger("dev.trunkline.consume"); // the demo turns it off
        Level consumeBefore = consume.getLevel();
        ListAppender<ILoggingEvent> logged = new ListAppender<>();
        logged.list = Collections.synchronizedList(new ArrayList<>());
        logged.start();
        root.addAppender(logged);
        ours.setLevel(Level.DEBUG);
        consume.setLevel(Level.DEBUG);
        try {
            speakOfSecrets();
        } finally {
            ours.setLevel(before);
            consume.setLevel(consumeBefore);
            root.detachAppender(logged);
        }
        JsonEncoder encoder = new JsonEncoder();
        encoder.start();
        List<String> lines = List.copyOf(logged.list).stream()
                .map(event -> new String(encoder.encode(event), StandardCharsets.UTF_8))
                .toList();
        assertThat(lines)
                .anyMatch(line -> line.contains("dead letter")
                        && line.contains("[{\"group\":\"g\"},{\"topic\":\"t\"},{\"partition\":\""));
        assertThat(lines).noneMatch(line -> line.contains(CANARY));
        assertThat(lines).noneMatch(line -> line.contains(Cli.postgres().password()));
    }

    private static void speakOfSecrets() throws Exception {
        String database = Cli.freshDatabase();
        String url = Cli.postgres().jdbcUrl(database);
        String user = Cli.postgres().user();
        try (Trunkline trunkline =
                Trunkline.builder().url(url, user, Cli.postgres().password()).open()) {
            trunkline.topics().create(TopicConfiguration.pubSub("t"));
            var group = trunkline
                    .createConsumerGroup("g", "t", Order.class)
                    .addConsumer("a", delivery -> {
                        throw new IllegalStateException("the handler's own words");
                    })
                    .start(SubscriptionOptions.fromBeginning()
                            .withRetry(new RetryPolicy(2, Duration.ofMillis(1), Duration.ofMillis(1))));
            Message undecodable = Message.of("t", "{\"number\": \"" + CANARY + "\"}")
                    .withKey(CANARY)
                    .withHeader("h", CANARY)
                    .withIdempotencyKey(CANARY);
            trunkline.publisher().publish(undecodable);
            trunkline.publisher().publish(undecodable);
            trunkline.publisher().publish(Message.of("t", new Order(7)).withKey(CANARY + 1));
            try (Connection connection = Cli.postgres().dataSource(database).getConnection()) {
                trunkline
                        .publisher()
                        .publish(connection, Message.of("t", CANARY).withKey(CANARY + 2));
            }
            assertThatThrownBy(() -> trunkline
                            .publisher()
                            .publish(Message.of("t", CANARY).withKey(CANARY.repeat(1_000))))
                    .isInstanceOf(TrunklineException.class);
            Awaitility.await()
                    .atMost(Duration.ofMinutes(1))
                    .until(() -> group.metrics().deadLettered() == 3);
        }
        assertThatThrownBy(() -> Trunkline.builder().url(url, user, CANARY).open())
                .isInstanceOf(TrunklineException.class);
        try (Service service = Service.start(
                ServerOptions.local(Address.of(url, user, Cli.postgres().password(), "trunkline"), 100_000))) {
            String path = service.url() + "/v1/topics/t/messages";
            String good = service.firstKey().orElseThrow();
            assertThat(post(path, CANARY, "{}")).isEqualTo(401);
            assertThat(post(path, good, "{\"text\": \"" + CANARY + "\", \"key\": \"" + CANARY + "\"}"))
                    .isEqualTo(201);
            assertThat(post(path, good, "{\"text\": " + CANARY + "}")).isEqualTo(400);
            assertThat(post(service.url() + "/v1/topics/t/groups/g/pull", good, "{}"))
                    .isGreaterThanOrEqualTo(400);
        }
    }

    private static int post(String url, String key, String body) throws Exception {
        try (HttpClient client = HttpClient.newHttpClient()) {
            return client.send(
                            HttpRequest.newBuilder(URI.create(url))
                                    .header("Authorization", "Bearer " + key)
                                    .header("Content-Type", "application/json")
                                    .POST(BodyPublishers.ofString(body))
                                    .build(),
                            BodyHandlers.ofString())
                    .statusCode();
        }
    }
}
