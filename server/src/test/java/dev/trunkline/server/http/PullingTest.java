package dev.trunkline.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Groups that are pulled from over HTTP, and what others do to them meanwhile. */
@Timeout(120)
class PullingTest {

    private static final String GROUP = "/v1/topics/t/groups/g";

    private Api api;

    @BeforeEach
    void start() throws Exception {
        api = Api.start();
        api.post("/v1/topics", "{\"name\": \"t\", \"partitions\": 1, \"semantics\": \"PUB_SUB\"}");
        api.put(GROUP, "{\"start\": \"beginning\"}");
    }

    @AfterEach
    void stop() {
        api.close();
    }

    private void publish(String text) throws Exception {
        assertThat(api.post("/v1/topics/t/messages", "{\"text\": \"" + text + "\"}")
                        .status())
                .isEqualTo(201);
    }

    private CompletableFuture<Api.Answer> waiting() {
        CompletableFuture<Api.Answer> answer = new CompletableFuture<>();
        Thread.startVirtualThread(() -> {
            try {
                answer.complete(api.post(GROUP + "/pull", "{\"wait\": \"PT50S\"}"));
            } catch (Exception e) {
                answer.completeExceptionally(e);
            }
        });
        return answer;
    }

    private static List<String> texts(Api.Answer answer) {
        List<String> texts = new ArrayList<>();
        answer.json()
                .at("/messages")
                .forEach(message -> texts.add(message.at("/text").asString()));
        return texts;
    }

    @Test
    void what_was_cancelled_is_not_made_anew_by_who_pulls_or_settles() throws Exception {
        publish("a");
        String token = api.post(GROUP + "/pull", "{}").at("/token");
        assertThat(api.post(GROUP + "/cancel", "").status()).isEqualTo(204);
        assertThat(api.post(GROUP + "/batches/" + token + "/ack", "{}").status())
                .isEqualTo(409);
        assertThat(api.post(GROUP + "/pull", "{}").status()).isEqualTo(409);
        assertThat(api.get(GROUP).at("/status")).isEqualTo("CANCELLED");
        assertThat(api.put(GROUP, "{\"start\": \"beginning\"}").status()).isEqualTo(204);
        assertThat(texts(api.post(GROUP + "/pull", "{}"))).containsExactly("a");
    }

    @Test
    void a_server_that_never_saw_a_cancelled_group_does_not_make_it_either() throws Exception {
        String database = dev.trunkline.server.Cli.freshDatabase();
        try (Api one = Api.on(database);
                Api other = Api.on(database).as(one.key())) {
            one.post("/v1/topics", "{\"name\": \"t\", \"partitions\": 1, \"semantics\": \"PUB_SUB\"}");
            one.put(GROUP, "{}");
            assertThat(one.post(GROUP + "/cancel", "").status()).isEqualTo(204);
            assertThat(other.post(GROUP + "/pull", "{}").status()).isEqualTo(404);
            assertThat(other.get(GROUP).at("/status")).isEqualTo("CANCELLED");
        }
    }

    @Test
    void the_mistakes_of_others_do_not_end_anybodys_wait() throws Exception {
        CompletableFuture<Api.Answer> answer = waiting();
        String batch = GROUP + "/batches/1-0-1-00000000-0000-0000-0000-000000000000";
        for (int i = 0; i < 3; i++) {
            assertThat(api.post(batch + "/ack", "{}").status()).isEqualTo(409);
            assertThat(api.post(batch + "/nack", "{}").status()).isEqualTo(409);
            assertThat(api.put(GROUP, "{\"start\": \"beginning\"}").status()).isEqualTo(204);
        }
        assertThat(answer).isNotDone();
        publish("a");
        assertThat(texts(answer.get())).containsExactly("a");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "POST | /pull                | {\"max\": 0}            | max",
                "POST | /pull                | {\"max\": 10001}        | max",
                "POST | /pull                | {\"lease\": \"PT0S\"}   | lease",
                "POST | /pull                | {\"lease\": \"P2D\"}    | lease",
                "POST | /pull                | {\"wait\": \"PT-1S\"}   | wait",
                "POST | /pull                | {\"wait\": \"PT2M\"}    | wait",
                "POST | /batches/x/nack      | {\"delay\": \"PT-1S\"}  | delay",
                "POST | /batches/x/nack      | {\"delay\": \"P400D\"}  | delay",
                "POST | /batches/x/extend    | {\"lease\": \"PT0S\"}   | lease",
                "PUT  |                      | {\"attempts\": 0}       | attempts",
                "PUT  |                      | {\"attempts\": 1001}    | attempts",
                "PUT  |                      | {\"start\": \"never\"}  | start",
                "POST | /seek                | {\"to\": \"never\"}     | to"
            })
    void a_field_that_makes_no_sense_is_named(String method, String path, String body, String field) throws Exception {
        String at = GROUP + (path == null ? "" : path);
        Api.Answer answer = method.equals("PUT") ? api.put(at, body) : api.post(at, body);
        assertThat(answer.status()).as(answer.toString()).isEqualTo(400);
        assertThat(answer.at("/field")).isEqualTo(field);
    }
}
