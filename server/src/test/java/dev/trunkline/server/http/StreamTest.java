package dev.trunkline.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.server.Cli;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;

/** Server-sent events. */
@Timeout(120)
class StreamTest {

    private static final String GROUP = "/v1/topics/t/groups/g";

    private final String database = Cli.freshDatabase();
    private Api api;

    @BeforeEach
    void start() throws Exception {
        api = Api.on(database);
        api.post("/v1/topics", "{\"name\": \"t\", \"partitions\": 1, \"semantics\": \"PUB_SUB\"}");
        api.put(GROUP, "{\"start\": \"beginning\"}");
    }

    @AfterEach
    void stop() {
        api.close();
    }

    private void publish(String... texts) throws Exception {
        for (String text : texts) {
            assertThat(api.post("/v1/topics/t/messages", "{\"text\": \"" + text + "\"}")
                            .status())
                    .isEqualTo(201);
        }
    }

    private BufferedReader events(Api server, String path) throws Exception {
        return new BufferedReader(new InputStreamReader(server.events(path), StandardCharsets.UTF_8));
    }

    private static JsonNode next(BufferedReader events) throws IOException {
        String line;
        do {
            line = events.readLine();
            if (line == null) {
                throw new IOException("the stream is over");
            }
        } while (!line.startsWith("data: "));
        return Json.MAPPER.readTree(line.substring("data: ".length()));
    }

    private static List<String> texts(JsonNode batch) {
        List<String> texts = new ArrayList<>();
        batch.at("/messages").forEach(message -> texts.add(message.at("/text").asString()));
        return texts;
    }

    private Api.Answer ack(Api server, JsonNode batch) throws Exception {
        return server.post(GROUP + "/batches/" + batch.at("/token").asString() + "/ack", "{}");
    }

    @Test
    void a_tail_tells_every_message_from_the_beginning_or_from_now_on() throws Exception {
        publish("a");
        try (BufferedReader all = events(api, "/v1/topics/t/tail?from=beginning");
                BufferedReader some = events(api, "/v1/topics/t/tail")) {
            publish("b");
            assertThat(next(all).at("/text").asString()).isEqualTo("a");
            assertThat(next(all).at("/text").asString()).isEqualTo("b");
            assertThat(next(some).at("/text").asString()).isEqualTo("b");
        }
    }

    @Test
    void a_batch_comes_when_the_one_before_it_is_settled() throws Exception {
        publish("a", "b", "c");
        try (BufferedReader batches = events(api, GROUP + "/consume?max=2&lease=PT1M")) {
            JsonNode first = next(batches);
            assertThat(texts(first)).containsExactly("a", "b");
            assertThat(ack(api, first).status()).isEqualTo(200);
            JsonNode second = next(batches);
            assertThat(texts(second)).containsExactly("c");
            assertThat(ack(api, second).status()).isEqualTo(200);
            publish("d");
            assertThat(texts(next(batches))).containsExactly("d");
        }
    }

    @Test
    void a_batch_may_be_settled_by_another_server() throws Exception {
        publish("a");
        try (Api other = Api.on(database).as(api.key());
                BufferedReader batches = events(api, GROUP + "/consume?lease=PT1M")) {
            JsonNode first = next(batches);
            publish("b");
            assertThat(ack(other, first).status()).isEqualTo(200);
            assertThat(texts(next(batches))).containsExactly("b");
        }
    }

    @Test
    void what_is_not_settled_in_time_comes_again() throws Exception {
        publish("a");
        try (BufferedReader batches = events(api, GROUP + "/consume?lease=PT1S")) {
            JsonNode first = next(batches);
            JsonNode again = next(batches);
            assertThat(texts(again)).isEqualTo(texts(first));
            assertThat(again.at("/messages/0/attempt").asInt()).isEqualTo(2);
            assertThat(ack(api, first).status()).isEqualTo(409);
            assertThat(ack(api, again).status()).isEqualTo(200);
        }
    }

    @Test
    void streams_and_pulls_that_wait_end_when_the_server_stops() throws Exception {
        try (BufferedReader tail = events(api, "/v1/topics/t/tail");
                BufferedReader batches = events(api, GROUP + "/consume")) {
            CompletableFuture<Integer> pull = CompletableFuture.supplyAsync(() -> {
                try {
                    return api.post(GROUP + "/pull", "{\"wait\": \"PT60S\"}").status();
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
            tail.readLine();
            batches.readLine();
            api.close();
            assertThat(tail.lines().filter(line -> line.startsWith("data"))).isEmpty();
            assertThat(batches.lines().filter(line -> line.startsWith("data"))).isEmpty();
            assertThat(pull.handle((status, refused) -> refused == null ? status : 503)
                            .join())
                    .isIn(204, 503);
        }
    }
}
