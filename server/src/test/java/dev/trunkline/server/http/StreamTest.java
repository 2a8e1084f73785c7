package dev.trunkline.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.server.Cli;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.http.HttpRequest.BodyPublishers;
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

    private BufferedReader events(Api server, String path, String... headers) throws Exception {
        return new BufferedReader(new InputStreamReader(server.events(path, headers), StandardCharsets.UTF_8));
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
    void who_comes_back_to_a_tail_gets_what_came_since() throws Exception {
        String position;
        try (BufferedReader tail = events(api, "/v1/topics/t/tail")) {
            publish("a", "b");
            assertThat(next(tail).at("/text").asString()).isEqualTo("a");
            assertThat(next(tail).at("/text").asString()).isEqualTo("b");
        }
        try (BufferedReader idle = events(api, "/v1/topics/t/tail")) {
            position = idle.readLine().substring("id: ".length());
        }
        publish("c");
        try (BufferedReader tail = events(api, "/v1/topics/t/tail", "Last-Event-ID", position)) {
            publish("d");
            assertThat(next(tail).at("/text").asString()).isEqualTo("c");
            assertThat(next(tail).at("/text").asString()).isEqualTo("d");
        }
    }

    @Test
    void each_piece_of_a_tail_says_where_it_ends() throws Exception {
        try (BufferedReader tail = events(api, "/v1/topics/t/tail?from=beginning")) {
            publish("a");
            List<String> ids = new ArrayList<>();
            for (String line = tail.readLine(); !line.startsWith("data: "); line = tail.readLine()) {
                if (line.startsWith("id: ")) {
                    ids.add(line.substring("id: ".length()));
                }
            }
            publish("b");
            assertThat(next(tail).at("/text").asString()).isEqualTo("b");
            assertThat(ids).hasSize(2);
            try (BufferedReader again = events(api, "/v1/topics/t/tail", "Last-Event-ID", ids.get(1))) {
                assertThat(next(again).at("/text").asString()).isEqualTo("b");
            }
            try (BufferedReader again = events(api, "/v1/topics/t/tail", "Last-Event-ID", ids.get(0))) {
                assertThat(next(again).at("/text").asString()).isEqualTo("a");
            }
        }
    }

    @Test
    void a_place_in_a_tail_that_is_none_is_refused() throws Exception {
        for (String position :
                List.of("x", "1-", "1-0-0", "zzzzzz-0", "1-zzzzzzzzzzzzz", "-1--1", "1 or 1=1", "\u00e4")) {
            Api.Answer answer =
                    api.send("GET", "/v1/topics/t/tail", BodyPublishers.noBody(), null, "Last-Event-ID", position);
            assertThat(answer.status()).as(position + ": " + answer).isEqualTo(400);
            assertThat(answer.at("/field")).isEqualTo("Last-Event-ID");
        }
    }

    @Test
    void a_place_in_a_tail_that_is_not_in_the_log_is_told() throws Exception {
        String position;
        try (BufferedReader idle = events(api, "/v1/topics/t/tail")) {
            position = idle.readLine().substring("id: ".length());
        }
        String beyond = position.substring(0, position.indexOf('-')) + "-5";
        Api.Answer answer =
                api.send("GET", "/v1/topics/t/tail", BodyPublishers.noBody(), null, "Last-Event-ID", beyond);
        assertThat(answer.status()).as(answer.toString()).isEqualTo(416);
    }

    @Test
    void who_waits_when_his_key_is_revoked_is_told_nothing_more_and_loses_nothing() throws Exception {
        String other = "/v1/topics/t/groups/h";
        api.put(other, "{\"start\": \"beginning\"}");
        JsonNode given = api.post("/v1/keys", "{\"name\": \"k\", \"verbs\": [\"READ\", \"CONSUME\"]}")
                .json();
        Api caller = api.as(given.at("/key").asString());
        CompletableFuture<Api.Answer> pull = new CompletableFuture<>();
        Thread.startVirtualThread(() -> {
            try {
                pull.complete(caller.post(GROUP + "/pull", "{\"wait\": \"PT50S\"}"));
            } catch (Exception e) {
                pull.completeExceptionally(e);
            }
        });
        try (BufferedReader tail = events(caller, "/v1/topics/t/tail");
                BufferedReader batches = events(caller, other + "/consume")) {
            assertThat(api.delete("/v1/keys/" + given.at("/id").asString()).status())
                    .isEqualTo(204);
            publish("a");
            assertThat(tail.lines().filter(line -> line.startsWith("data: "))).isEmpty();
            assertThat(batches.lines().filter(line -> line.startsWith("data: ")))
                    .isEmpty();
            assertThat(pull.get().status()).isEqualTo(401);
        }
        assertThat(texts(api.post(GROUP + "/pull", "{}").json())).containsExactly("a");
        assertThat(texts(api.post(other + "/pull", "{}").json())).containsExactly("a");
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
            while (ack(api, again).status() != 200) { // whoever stands still is late again
                again = next(batches);
                assertThat(texts(again)).isEqualTo(texts(first));
            }
        }
    }

    @Test
    void a_stream_that_makes_no_sense_is_refused_before_it_begins() throws Exception {
        for (String query : List.of(
                "lease=PT-1S",
                "lease=PT0S",
                "lease=P2D",
                "lease=PT9223372036854775807S",
                "lease=x",
                "max=0",
                "batches=101")) {
            Api.Answer answer = api.get(GROUP + "/consume?" + query);
            assertThat(answer.status()).as(query + ": " + answer).isEqualTo(400);
            assertThat(answer.at("/field")).isEqualTo(query.split("=", 2)[0]);
        }
    }

    @Test
    void a_lease_that_was_extended_holds_in_the_stream_too() throws Exception {
        api.post("/v1/topics", "{\"name\": \"two\", \"partitions\": 2, \"semantics\": \"PUB_SUB\"}");
        String group = "/v1/topics/two/groups/g";
        api.put(group, "{\"start\": \"beginning\"}");
        for (int i = 0; i < 20; i++) {
            api.post("/v1/topics/two/messages", "{\"text\": \"a\", \"key\": \"" + i + "\"}");
        }
        try (BufferedReader batches = events(api, group + "/consume?lease=PT15S")) {
            JsonNode first = next(batches);
            String batch = group + "/batches/" + first.at("/token").asString();
            assertThat(api.post(batch + "/extend", "{\"lease\": \"PT1M\"}").status())
                    .isEqualTo(200);
            for (int looks = 0; looks < 17; ) {
                String line = batches.readLine();
                assertThat(line).doesNotStartWith("data: ");
                looks += line.startsWith(":") ? 1 : 0;
            }
            assertThat(api.post(batch + "/ack", "{}").status()).isEqualTo(200);
            assertThat(next(batches).at("/messages/0/partition")).isNotEqualTo(first.at("/messages/0/partition"));
        }
    }

    @Test
    void a_group_that_another_server_has_made_anew_is_pulled_from_as_before() throws Exception {
        try (Api other = Api.on(database).as(api.key())) {
            publish("a");
            assertThat(ack(api, api.post(GROUP + "/pull", "{}").json()).status())
                    .isEqualTo(200);
            assertThat(other.post(GROUP + "/cancel", "").status()).isEqualTo(204);
            assertThat(other.put(GROUP, "{\"start\": \"beginning\"}").status()).isEqualTo(204);
            Api.Answer again = api.post(GROUP + "/pull", "{}");
            assertThat(texts(again.json())).containsExactly("a");
            Api.Answer acked = ack(api, again.json());
            assertThat(acked.status()).as(acked.toString()).isEqualTo(200);
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
