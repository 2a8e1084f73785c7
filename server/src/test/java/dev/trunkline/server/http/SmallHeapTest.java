package dev.trunkline.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.rig.ChildJvm;
import dev.trunkline.server.Cli;
import dev.trunkline.server.Main;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Large messages, many at once, of a server with 256 MB of heap. */
@Timeout(300)
class SmallHeapTest {

    private static final int TOPICS = 8;
    private static final int MESSAGES = 20;
    private static final String LISTENS = " listens at ";
    private static final String LARGE = "{\"text\": \"" + "x".repeat(900_000) + "\"}";

    private final HttpClient client = HttpClient.newHttpClient();

    private record Answer(int status, boolean again, long bytes) {}

    private Answer ask(String url, String key, String method, String path, String body) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(url + path))
                .timeout(Duration.ofMinutes(2))
                .header("Authorization", "Bearer " + key)
                .header("Content-Type", "application/json")
                .method(method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body))
                .build();
        HttpResponse<InputStream> response = client.send(request, BodyHandlers.ofInputStream());
        try (InputStream in = response.body()) {
            return new Answer(
                    response.statusCode(),
                    response.headers().firstValue("Retry-After").isPresent(),
                    in.transferTo(java.io.OutputStream.nullOutputStream()));
        }
    }

    /** All at once. */
    private static List<Answer> all(List<Question> questions) throws Exception {
        List<Future<Answer>> answers = new ArrayList<>();
        try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
            questions.forEach(question -> answers.add(callers.submit(question::ask)));
        }
        List<Answer> all = new ArrayList<>();
        for (Future<Answer> answer : answers) {
            all.add(answer.get());
        }
        return all;
    }

    @FunctionalInterface
    private interface Question {
        Answer ask() throws Exception;
    }

    private static void assertThatEachIsGoodOrToldToComeAgain(List<Answer> answers, int good) {
        assertThat(answers)
                .allMatch(
                        answer -> answer.status == good || (List.of(429, 503).contains(answer.status) && answer.again));
        assertThat(answers).anyMatch(answer -> answer.status == good);
    }

    @Test
    void large_bodies_and_answers_take_turns() throws Exception {
        String database = Cli.freshDatabase();
        try (ChildJvm server = ChildJvm.start(
                Main.class,
                "serve",
                "--port",
                "0",
                "--url",
                Cli.postgres().jdbcUrl(database),
                "--user",
                Cli.postgres().user(),
                "--password",
                Cli.postgres().password())) {
            server.readLine();
            String key = Objects.requireNonNull(server.readLine()).strip();
            String line = Objects.requireNonNull(server.readLine());
            String url = line.substring(line.indexOf(LISTENS) + LISTENS.length());
            for (int i = 0; i < TOPICS; i++) {
                String topic = "{\"name\": \"t" + i + "\", \"partitions\": 1}";
                assertThat(ask(url, key, "POST", "/v1/topics", topic).status).isEqualTo(201);
                assertThat(ask(url, key, "PUT", "/v1/topics/t" + i + "/groups/shared", "{\"start\": \"beginning\"}")
                                .status)
                        .isEqualTo(204);
            }
            List<Answer> published = all(IntStream.range(0, TOPICS * MESSAGES)
                    .<Question>mapToObj(i -> () -> published(url, key, "/v1/topics/t" + i % TOPICS + "/messages"))
                    .toList());
            assertThat(published).allMatch(answer -> answer.status == 201);
            List<Answer> pulled = all(IntStream.range(0, TOPICS)
                    .<Question>mapToObj(i -> () ->
                            ask(url, key, "POST", "/v1/topics/t" + i + "/groups/shared/pull", "{\"wait\": \"PT5S\"}"))
                    .toList());
            assertThatEachIsGoodOrToldToComeAgain(pulled, 200);
            List<Answer> read = all(IntStream.range(0, 2 * TOPICS)
                    .<Question>mapToObj(i ->
                            () -> ask(url, key, "GET", "/v1/topics/t" + i % TOPICS + "/messages?from=0&limit=1000", ""))
                    .toList());
            assertThatEachIsGoodOrToldToComeAgain(read, 200);
            assertThat(read).anyMatch(answer -> answer.bytes > 10_000_000);
            assertThat(ask(url, key, "GET", "/ready", "").status).isEqualTo(200);
            assertThat(ask(url, key, "POST", "/v1/topics/t0/messages", LARGE).status)
                    .isEqualTo(201);
        }
    }

    /** Until it is: a server that has no room says so before it has read the body, and may then cut the line. */
    private Answer published(String url, String key, String path) throws Exception {
        while (true) {
            try {
                Answer answer = ask(url, key, "POST", path, LARGE);
                if (!answer.again) {
                    return answer;
                }
            } catch (IOException cut) {
                assertThat(ask(url, key, "GET", "/health", "").status).isEqualTo(200);
            }
        }
    }
}
