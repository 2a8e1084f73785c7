package dev.trunkline.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

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
    void what_is_released_comes_again_as_if_it_had_not_been_taken() throws Exception {
        publish("a");
        publish("b");
        String batch = GROUP + "/batches/" + api.post(GROUP + "/pull", "{}").at("/token");
        assertThat(api.post(batch + "/release", "{\"offsets\": [1]}").json().toString())
                .isEqualTo("{\"left\":[0]}");
        assertThat(api.post(batch + "/release", "{}").json().toString()).isEqualTo("{\"left\":[]}");
        assertThat(api.post(batch + "/release", "{\"offsets\": [0]}").status()).isEqualTo(409);
        Api.Answer again = api.post(GROUP + "/pull", "{}");
        assertThat(texts(again)).containsExactly("a", "b");
        assertThat(again.at("/messages/0/attempt")).isEqualTo("1");
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

    @Test
    void a_field_that_makes_no_sense_is_named() throws Exception {
        List<List<String>> wrong = List.of(
                List.of("POST", "/pull", "{\"max\": 0}", "max"),
                List.of("POST", "/pull", "{\"max\": 10001}", "max"),
                List.of("POST", "/pull", "{\"lease\": \"PT0S\"}", "lease"),
                List.of("POST", "/pull", "{\"lease\": \"P2D\"}", "lease"),
                List.of("POST", "/pull", "{\"wait\": \"PT-1S\"}", "wait"),
                List.of("POST", "/pull", "{\"wait\": \"PT2M\"}", "wait"),
                List.of("POST", "/batches/x/nack", "{\"delay\": \"PT-1S\"}", "delay"),
                List.of("POST", "/batches/x/nack", "{\"delay\": \"P400D\"}", "delay"),
                List.of("POST", "/batches/x/extend", "{\"lease\": \"PT0S\"}", "lease"),
                List.of("PUT", "", "{\"attempts\": 0}", "attempts"),
                List.of("PUT", "", "{\"attempts\": 1001}", "attempts"),
                List.of("PUT", "", "{\"start\": \"never\"}", "start"),
                List.of("POST", "/seek", "{\"to\": \"never\"}", "to"));
        for (List<String> each : wrong) {
            Api.Answer answer = api.send(
                    each.get(0), GROUP + each.get(1), BodyPublishers.ofString(each.get(2)), "application/json");
            assertThat(answer.status()).as(each + ": " + answer).isEqualTo(400);
            assertThat(answer.at("/field")).as(each.toString()).isEqualTo(each.get(3));
        }
    }

    @Test
    void what_somebody_who_has_hung_up_did_not_get_was_not_tried() throws Exception {
        hangUp("POST " + GROUP + "/pull", "{\"lease\": \"PT1H\"}");
    }

    @Test
    void what_a_stream_whose_caller_has_hung_up_did_not_tell_was_not_tried() throws Exception {
        hangUp("GET " + GROUP + "/consume?lease=PT1H", "");
    }

    /** In the middle of an answer that is larger than what lies in the buffers of a line. */
    private void hangUp(String what, String body) throws Exception {
        String large = "x".repeat(90_000);
        for (int i = 0; i < 100; i++) {
            publish(large);
        }
        URI server = URI.create(api.url());
        try (Socket line = new Socket()) {
            line.setReceiveBufferSize(4_096);
            line.setSoLinger(true, 0); // it is reset
            line.connect(new InetSocketAddress(server.getHost(), server.getPort()));
            line.getOutputStream()
                    .write((what + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + api.key()
                                    + "\r\nContent-Type: application/json\r\nContent-Length: " + body.length()
                                    + "\r\n\r\n" + body)
                            .getBytes(StandardCharsets.ISO_8859_1));
            line.getOutputStream().flush();
            assertThat(line.getInputStream().readNBytes(10_000)).hasSize(10_000); // it is in the middle of it
        }
        Api.Answer next = api.post(GROUP + "/pull", "{\"wait\": \"PT50S\", \"max\": 1}");
        assertThat(texts(next)).containsExactly(large);
        assertThat(next.at("/messages/0/attempt")).isEqualTo("1");
    }
}
