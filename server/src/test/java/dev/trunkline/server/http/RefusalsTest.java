package dev.trunkline.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.Socket;
import java.net.URI;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What can not be published as it was meant is refused, by the name of what is wrong, and not published as something else. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(120)
class RefusalsTest {

    private static final String LINES = "application/x-ndjson";

    private Api api;

    @BeforeAll
    void start() throws Exception {
        api = Api.start();
    }

    @AfterAll
    void stop() {
        api.close();
    }

    /** A topic of this name, for messages of up to 1000 bytes. */
    private String topic(String name) throws Exception {
        assertThat(api.post("/v1/topics", "{\"name\": \"" + name + "\", \"partitions\": 1, \"maxPayloadBytes\": 1000}")
                        .status())
                .isEqualTo(201);
        return "/v1/topics/" + name + "/messages";
    }

    private Api.Answer publish(String path, String type, String body, String... headers) throws Exception {
        return api.send("POST", path, BodyPublishers.ofString(body), type, headers);
    }

    private List<String> texts(String path) throws Exception {
        return api.get(path + "?from=0")
                .json()
                .at("/messages")
                .valueStream()
                .map(message -> message.path("text").asString())
                .toList();
    }

    @Test
    void an_empty_idempotency_key_is_refused() throws Exception {
        String path = topic("blank");
        for (String blank : List.of("", " ", "\t")) {
            for (String type : List.of("application/json", LINES)) {
                Api.Answer answer = publish(path, type, "{\"text\": \"a\"}", "Idempotency-Key", blank);
                assertThat(answer.status()).as(answer.toString()).isEqualTo(400);
                assertThat(answer.at("/field")).isEqualTo("Idempotency-Key");
            }
        }
        Api.Answer twice =
                publish(path, "application/json", "{\"text\": \"a\"}", "Idempotency-Key", "a", "Idempotency-Key", "b");
        assertThat(twice.at("/field")).as(twice.toString()).isEqualTo("Idempotency-Key");
        assertThat(texts(path)).isEmpty();
    }

    @Test
    void the_key_of_a_batch_is_none_of_a_single_message() throws Exception {
        String path = topic("joined");
        publish(path, "application/json", "[{\"text\": \"0\"}, {\"text\": \"1\"}]", "Idempotency-Key", "order");
        for (String key : List.of("order", "order:0", "order:1", "order 0", "order\t1")) {
            Api.Answer single = publish(path, "application/json", "{\"text\": \"single\"}", "Idempotency-Key", key);
            assertThat(single.json().at("/messages/0/duplicate").asBoolean())
                    .as(key)
                    .isFalse();
        }
        assertThat(texts(path)).hasSize(7);
    }

    @Test
    void what_was_there_before_is_counted() throws Exception {
        String path = topic("counted");
        String two = "{\"text\": \"a\"}\n{\"text\": \"b\"}\n";
        Api.Answer first = publish(path, LINES, two, "Idempotency-Key", "upload");
        assertThat(first.json().at("/duplicates").asInt()).isZero();
        Api.Answer again = publish(path, LINES, two + "{\"text\": \"c\"}\n", "Idempotency-Key", "upload");
        assertThat(again.json().at("/published").asInt()).isEqualTo(3);
        assertThat(again.json().at("/duplicates").asInt()).isEqualTo(2);
        Api.Answer batch = publish(
                path, "application/json", "[{\"text\": \"a\"}, {\"text\": \"b\"}]", "Idempotency-Key", "upload");
        assertThat(batch.json().at("/duplicates").asInt()).isEqualTo(2);
        assertThat(texts(path)).containsExactly("a", "b", "c");
    }

    @Test
    void a_line_that_is_no_object_is_refused_with_its_number() throws Exception {
        String path = topic("lines");
        for (String bad : List.of("[{\"text\": \"no\"}]", "[]", "null", "5", "\"no\"", "true")) {
            Api.Answer answer = publish(path, LINES, bad + "\n{\"text\": \"b\"}\n");
            assertThat(answer.status()).as(bad + ": " + answer).isEqualTo(400);
            assertThat(answer.json().at("/message").asInt()).isZero();
            Api.Answer second = publish(path, LINES, "{\"text\": \"kept\"}\n" + bad + "\n{\"text\": \"b\"}\n");
            assertThat(second.status()).as(bad + ": " + second).isEqualTo(400);
            assertThat(second.json().at("/message").asInt()).isEqualTo(1);
            assertThat(second.json().at("/published").asInt()).isZero();
        }
        assertThat(texts(path)).isEmpty();
    }

    /** The rest of the body is awaited before the refusal is told: nothing is published meanwhile. */
    @Test
    void what_is_refused_is_published_no_further_while_the_rest_of_it_is_awaited() throws Exception {
        String path = topic("stalled");
        String refused = stall(path, "{\"text\": \"a\"}\n{\"text\": 5}\n");
        assertThat(refused).startsWith("HTTP/1.1 400 ").contains("\"message\":1", "\"published\":0");
        assertThat(texts(path)).isEmpty();
        assertThat(stall("/v1/topics/nowhere/messages", "{\"text\": \"a\"}\n")).startsWith("HTTP/1.1 404 ");
    }

    /** Sends some lines of a body that does not come to its end. Returns the answer. */
    private String stall(String path, String lines) throws Exception {
        URI server = URI.create(api.url());
        try (Socket socket = new Socket(server.getHost(), server.getPort())) {
            String head = "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + api.key()
                    + "\r\nContent-Type: " + LINES + "\r\nContent-Length: 1000\r\n\r\n";
            socket.getOutputStream().write((head + lines).getBytes(StandardCharsets.UTF_8));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void what_only_the_topic_knows_is_refused_by_its_name_too() throws Exception {
        String path = topic("plain");
        Api.Answer batch =
                publish(path, "application/json", "[{\"text\": \"a\"}, {\"text\": \"b\", \"priority\": \"HIGH\"}]");
        assertThat(List.of(batch.status(), batch.at("/field"))).isEqualTo(List.of(400, "priority"));
        assertThat(batch.json().at("/message").asInt()).isEqualTo(1);
        assertThat(texts(path)).isEmpty();
        assertThat(refusal("POST", "/v1/topics", "{\"name\": \"plain\"}")).isEqualTo("409 name");
        assertThat(refusal("POST", "/v1/topics", "{\"name\": \"lanes\", \"lanes\": 17}"))
                .isEqualTo("400 lanes");
        String group = "/v1/topics/plain/groups/";
        assertThat(refusal("PUT", group + "emails", "{}")).isEqualTo("409 group");
        for (String start : List.of("offset:999", "message:9", "2999-01-01T00:00:00Z")) {
            assertThat(refusal("PUT", group + "shared", "{\"start\": \"" + start + "\"}"))
                    .isEqualTo("409 start");
        }
        assertThat(api.put(group + "shared", "{}").status()).isEqualTo(204);
        assertThat(refusal("POST", group + "shared/seek", "{\"to\": \"offset:999\"}"))
                .isEqualTo("409 to");
        api.post("/v1/topics", "{\"name\": \"events\", \"semantics\": \"PUB_SUB\"}");
        assertThat(refusal("PUT", "/v1/topics/events/groups/shared", "{}")).isEqualTo("409 group");
        api.put("/v1/topics/events/groups/a", "{}");
        api.put("/v1/topics/events/groups/b", "{}");
        assertThat(refusal("PATCH", "/v1/topics/events", "{\"semantics\": \"QUEUE\"}"))
                .isEqualTo("400 semantics");
    }

    private String refusal(String method, String path, String body) throws Exception {
        Api.Answer answer = api.send(method, path, BodyPublishers.ofString(body), "application/json");
        return answer.status() + " " + answer.at("/field");
    }

    /** A tree of it would be many times as large as what was sent. */
    @Test
    void a_payload_is_kept_to_the_last_digit_and_sign() throws Exception {
        String path = topic("exact");
        List<String> payloads = List.of(
                "null", "[{},{}]", "1.50", "12345678901234567890.000", "{\"a\":[1,-7,\"\u00e9\\n\"]}", "\"\"", "false");
        for (String payload : payloads) {
            assertThat(publish(path, "application/json", "{\"payload\": " + payload + "}")
                            .status())
                    .as(payload)
                    .isEqualTo(201);
        }
        assertThat(texts(path)).isEqualTo(payloads);
    }

    @Test
    void a_line_may_be_as_long_as_a_body_and_no_longer() throws Exception {
        String path = topic("long");
        Api.Answer fits = publish(path, LINES, "{\"text\": \"" + "x".repeat(900) + "\"}");
        assertThat(fits.status()).as(fits.toString()).isEqualTo(201);
        Api.Answer longer = publish(path, LINES, "{\"text\": \"" + "x".repeat((int) Api.MOST_BYTES * 3) + "\"}");
        assertThat(longer.status()).as(longer.toString()).isEqualTo(413);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    text           | "\\ud800"
                    text           | "a\\udc00b"
                    key            | "\\ud800"
                    key            | "\\u0000"
                    headers        | {"h": "\\udfff"}
                    headers        | {"\\u0000": "v"}
                    headers        | {"h": null}
                    contentType    | ""
                    contentType    | "\\u0000"
                    correlationId  | "\\ud800"
                    idempotencyKey | ""
                    delay          | "PT-1S"
                    delay          | "P99999D"
                    deliverAt      | "+10000-01-01T00:00:00Z"
                    base64         | "?"
                    """)
    void a_message_that_can_not_be_kept_as_it_is_is_refused_by_its_field(String field, String value) throws Exception {
        String path = "/v1/topics/fields/messages";
        if (api.get("/v1/topics/fields").status() == 404) {
            topic("fields");
        }
        String said = List.of("text", "payload", "base64").contains(field) ? "" : "\"text\": \"t\", ";
        String bad = "{" + said + "\"" + field + "\": " + value + "}";
        Api.Answer one = publish(path, "application/json", bad);
        assertThat(one.status()).as(one.toString()).isEqualTo(400);
        assertThat(one.at("/field")).as(one.toString()).isEqualTo(field);
        Api.Answer several = publish(path, "application/json", "[{\"text\": \"good\"}, " + bad + "]");
        assertThat(several.at("/field")).as(several.toString()).isEqualTo(field);
        assertThat(several.json().at("/message").asInt()).isEqualTo(1);
        Api.Answer line = publish(path, LINES, "{\"text\": \"kept\"}\n" + bad + "\n");
        assertThat(line.at("/field")).as(line.toString()).isEqualTo(field);
        assertThat(line.json().at("/message").asInt()).isEqualTo(1);
        assertThat(texts(path)).doesNotContain("good");
    }

    /** JSON has a way to say it, which is kept: what is read as JSON is what was said. */
    @Test
    void half_a_character_in_json_stays_as_it_was_said() throws Exception {
        String path = topic("half");
        assertThat(publish(path, "application/json", "{\"payload\": {\"a\": \"\\ud800\"}}")
                        .status())
                .isEqualTo(201);
        assertThat(texts(path)).containsExactly("{\"a\":\"\\uD800\"}");
    }

    @Test
    void a_payload_that_is_too_large_is_named_in_a_batch_too() throws Exception {
        String path = topic("large");
        String large = "\"" + "x".repeat(1001) + "\"";
        Api.Answer answer = publish(
                path, "application/json", "[{\"text\": \"a\"}, {\"payload\": " + large + "}, {\"text\": \"c\"}]");
        assertThat(answer.status()).as(answer.toString()).isEqualTo(413);
        assertThat(answer.at("/field")).isEqualTo("payload");
        assertThat(answer.json().at("/message").asInt()).isEqualTo(1);
        Api.Answer line = publish(path, LINES, "{\"text\": \"a\"}\n{\"text\": " + large + "}\n");
        assertThat(line.at("/field")).as(line.toString()).isEqualTo("text");
        assertThat(line.json().at("/message").asInt()).isEqualTo(1);
        assertThat(texts(path)).isEmpty();
    }
}
