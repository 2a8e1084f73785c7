package dev.trunkline.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;

/**
 * Every route is asked what makes no sense, more than 500 times: it says so, in a document, and nothing is lost. A route that is added is
 * in here by itself.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(600)
class HostileRequestsTest {

    private static final int LEAST = 500;
    private static final int MESSAGES = 20;
    private static final String VICTIM = "victim";
    private static final long SEED = Long.getLong("seed", 20261117);

    /** What no JSON is, or none that anybody asks for. */
    private static final List<String> BODIES = List.of(
            "",
            " ",
            "{",
            "}",
            "[",
            "]",
            "{]",
            "nul",
            "null",
            "true",
            "5",
            "-",
            "1e999999999",
            "\"",
            "\"a\"",
            "{\"a\"}",
            "{\"a\":}",
            "{a: 1}",
            "{'a': 1}",
            "[1,]",
            "{\"a\": 1,}",
            "// comment",
            "{} {}",
            "{} x",
            "\u0000",
            "\ufeff{}x",
            "<a/>",
            "a=b&c=d",
            "--",
            "%00",
            "{\"a\": 01}",
            "{\"a\": +1}",
            "{\"a\": NaN}",
            "{\"a\": Infinity}",
            "{\"a\": .5}",
            "{\"a\": \"\\x\"}",
            "{\"a\": \"\\u12\"}",
            "{\"a\": \"\n\"}",
            "{\"__proto__\": {}}",
            "{\"@class\": \"java.lang.Runtime\"}",
            "[\"java.lang.Runtime\", {}]",
            "[".repeat(5_000),
            "{\"a\":".repeat(5_000),
            "[[[[[[[[]]]]]]]]",
            "9".repeat(5_000),
            "[" + "9".repeat(200) + "]");

    /** What a field is not, whatever it is. */
    private static final List<String> VALUES = List.of(
            "{}",
            "[]",
            "[[]]",
            "[null]",
            "{\"a\": {}}",
            "-1",
            "0.5",
            "1e400",
            "99999999999999999999999999",
            "-99999999999999999999",
            "\"\"",
            "\"\\u0000\"",
            "\"\\ud800\"",
            "\" \"",
            "\"a\\nb\"",
            "\"PT-5S\"",
            "\"P99999999999D\"",
            "\"PT9223372036854775807S\"",
            "\"+999999999-12-31T23:59:59Z\"",
            "\"-999999999-01-01T00:00:00Z\"",
            "\"0000-00-00\"",
            "\"offset:-1\"",
            "\"offset:99999999999999999999\"",
            "\"message:x\"",
            "\"'; drop table trunkline.topic; --\"",
            "\"\\u202e\"",
            "2147483648",
            "9223372036854775808",
            "true",
            "\"" + "x".repeat(70_000) + "\"");

    private static final List<String> NAMES = List.of(
            "%00",
            "%FF",
            "%C0%AF",
            "%ED%A0%80",
            "%",
            "%2",
            "%zz",
            "..",
            "%2e%2e",
            "%2F",
            "%5C",
            "a%0Ab",
            "%E2%80%AE",
            "%20",
            "'",
            "%22",
            "%3B",
            "-1",
            "0",
            "99999999999999999999",
            "null",
            "{topic}",
            "*",
            "%25",
            "$1",
            "x".repeat(300),
            "%F0%9F%92%A9".repeat(70),
            "a%2Fb",
            "1-0-1",
            "+",
            "~",
            "%7f",
            "1e3");

    private static final List<String> NUMBERS = List.of(
            "",
            "x",
            "-1",
            "1e3",
            "0x10",
            "99999999999999999999",
            "1.5",
            "%00",
            "null",
            "%20",
            "1,2",
            "NaN",
            "%E2%82%AC",
            "'",
            "beginning",
            "PT-1S");

    private static final List<String> KEYS = List.of(
            "",
            " ",
            "x",
            "tl_",
            "tl_" + "a".repeat(43),
            "tl_" + "a".repeat(5_000),
            "a.b.c",
            "..",
            "null",
            "Bearer",
            "'; --",
            "tl_%00");

    private Api api;
    private JsonNode document;
    private final Random random = new Random(SEED);
    private final ThreadLocal<RawClient> client = ThreadLocal.withInitial(() -> new RawClient(api.url()));

    @BeforeAll
    void start() throws Exception {
        api = Api.start();
        document = api.get("/openapi.json").json();
        api.post("/v1/topics", "{\"name\": \"" + VICTIM + "\", \"partitions\": 2}");
        api.put("/v1/topics/" + VICTIM + "/groups/shared", "{\"start\": \"beginning\"}");
        for (int i = 0; i < MESSAGES; i++) {
            assertThat(api.post("/v1/topics/" + VICTIM + "/messages", "{\"text\": \"" + i + "\"}")
                            .status())
                    .isEqualTo(201);
        }
    }

    @AfterAll
    void stop() {
        api.close();
    }

    /**
     * A request.
     *
     * @param certain whether it can not be good by chance
     */
    private record Bad(
            String method,
            String path,
            String body,
            String type,
            @Nullable String key,
            boolean certain) {}

    private List<Bad> requests(Route route) {
        List<Bad> all = new ArrayList<>();
        String plain = path(route, "none", "none");
        boolean hasBody = !route.bodies().isEmpty();
        for (String name : NAMES) {
            if (route.template().contains("{")) {
                all.add(new Bad(route.method(), path(route, name, name), "{}", Exchange.JSON, null, false));
                if (!route.method().equals("DELETE")) {
                    all.add(new Bad(
                            route.method(), path(route, VICTIM, name) + "?no=1", "{}", Exchange.JSON, null, true));
                }
            }
            all.add(new Bad(route.method(), plain + "?" + name + "=1", "{}", Exchange.JSON, null, true));
            all.add(new Bad(route.method(), plain + "/" + name + "/x/y/z", "{}", Exchange.JSON, null, true));
        }
        for (Parameter parameter : route.query()) {
            for (String value : NUMBERS) {
                all.add(new Bad(
                        route.method(),
                        plain + "?" + parameter.name() + "=" + value,
                        "{}",
                        Exchange.JSON,
                        null,
                        false));
            }
            all.add(new Bad(
                    route.method(),
                    plain + "?" + parameter.name() + "=1&" + parameter.name() + "=1",
                    "{}",
                    Exchange.JSON,
                    null,
                    true));
        }
        if (route.verb().isPresent()) {
            KEYS.forEach(key -> all.add(new Bad(route.method(), plain, "{}", Exchange.JSON, key, true)));
        }
        for (String method : List.of("TRACE", "BREW", "OPTIONS", "HEAD", "PROPFIND", "get", "CONNECTED")) {
            all.add(new Bad(method, plain, "", Exchange.JSON, null, !method.equals("HEAD")));
        }
        if (hasBody) {
            for (String type : route.bodies().keySet()) {
                for (String body : BODIES) {
                    all.add(new Bad(
                            route.method(), plain, body, type, null, !body.isBlank() || type.equals(Exchange.JSON)));
                }
                for (String field : fields(route, type)) {
                    for (String value : VALUES) {
                        String body = "{\"" + field + "\": " + value + "}";
                        all.add(new Bad(route.method(), plain, body, type, null, false));
                        all.add(new Bad(
                                route.method(), path(route, VICTIM, "shared") + "?no=1", body, type, null, true));
                    }
                    all.add(new Bad(
                            route.method(),
                            plain,
                            "{\"" + field + "\": null, \"" + field + "\": null}",
                            type,
                            null,
                            true));
                    all.add(new Bad(route.method(), plain, "{\"" + field + "x\": 1}", type, null, true));
                }
            }
            for (String type : List.of(
                    "text/plain", "", "application/xml", "multipart/form-data", "a/b/c", "*/*", "application/json5")) {
                all.add(new Bad(route.method(), plain, "{}", type, null, true));
            }
        }
        while (all.size() < LEAST) {
            byte[] noise = new byte[1 + random.nextInt(30)];
            random.nextBytes(noise);
            StringBuilder encoded = new StringBuilder();
            for (byte each : noise) {
                encoded.append("%%%02X".formatted(each));
            }
            all.add(new Bad(
                    route.method(),
                    plain + "?" + encoded + "=" + encoded,
                    hasBody ? "{}" : "",
                    Exchange.JSON,
                    null,
                    true));
        }
        return all;
    }

    private List<String> fields(Route route, String type) {
        JsonNode schema = document.at("/paths")
                .path(route.template())
                .path(route.method().toLowerCase(java.util.Locale.ROOT))
                .path("requestBody")
                .path("content")
                .path(type)
                .path("schema");
        JsonNode one = schema.has("oneOf") ? schema.path("oneOf").path(0) : schema;
        return List.copyOf(document.at(one.path("$ref").asString().substring(1))
                .path("properties")
                .propertyNames());
    }

    private static String path(Route route, String topic, String other) {
        return route.template()
                .replace("{topic}", topic)
                .replace("{group}", other)
                .replace("{token}", other)
                .replace("{id}", other);
    }

    @Test
    void what_makes_no_sense_is_said_to_make_none_and_nothing_is_lost() throws Exception {
        Queue<String> wrong = new ConcurrentLinkedQueue<>();
        int sent = 0;
        try (ExecutorService callers = Executors.newFixedThreadPool(8)) {
            for (Route route : api.routes()) {
                List<Bad> requests = requests(route);
                assertThat(requests).as(route.toString()).hasSizeGreaterThanOrEqualTo(LEAST);
                sent += requests.size();
                for (Bad bad : requests) {
                    callers.execute(() -> ask(bad, wrong));
                }
            }
        }
        assertThat(wrong).as("seed " + SEED).isEmpty();
        assertThat(sent).isGreaterThan(15_000);
        List<String> left = new ArrayList<>();
        while (left.size() < MESSAGES) {
            Api.Answer batch = api.post("/v1/topics/" + VICTIM + "/groups/shared/pull", "{\"wait\": \"PT30S\"}");
            assertThat(batch.status()).isEqualTo(200);
            batch.json()
                    .at("/messages")
                    .forEach(message -> left.add(message.at("/text").asString()));
            api.post("/v1/topics/" + VICTIM + "/groups/shared/batches/" + batch.at("/token") + "/ack", "{}");
        }
        assertThat(left).doesNotHaveDuplicates().hasSize(MESSAGES);
    }

    private void ask(Bad bad, Queue<String> wrong) {
        try {
            RawClient.Raw answer = client.get().ask(head(bad), bad.body);
            String flaw = flaw(bad, answer);
            if (flaw != null) {
                wrong.add(bad + ": " + flaw + ": " + answer);
            }
        } catch (IOException | RuntimeException e) {
            wrong.add(bad + ": " + e);
            client.remove();
        }
    }

    private String head(Bad bad) {
        return bad.method + " " + bad.path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: " + bad.type
                + "\r\nAuthorization: Bearer " + (bad.key == null ? api.key() : bad.key) + "\r\n";
    }

    private static @Nullable String flaw(Bad bad, RawClient.Raw answer) {
        if (answer.status() >= 500) {
            return "a mistake of the server";
        }
        if (answer.status() < 400) {
            return bad.certain ? "it is taken for good" : null;
        }
        if (bad.method.equals("HEAD")) {
            return null;
        }
        if (!"application/problem+json".equals(answer.headers().get("content-type"))) {
            return "no problem document";
        }
        JsonNode problem = Json.MAPPER.readTree(answer.body());
        if (problem.path("detail").asString().isBlank()
                || answer.body().contains("Exception")
                || answer.body().contains("\\tat ")) {
            return "it says nothing, or too much";
        }
        return null;
    }
}
