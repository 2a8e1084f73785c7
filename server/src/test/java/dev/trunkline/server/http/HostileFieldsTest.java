package dev.trunkline.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;

/**
 * A good request for every route that takes a body, to topics, groups, batches and letters that there are, with one thing wrong at a time: it is
 * refused by the name of that thing, and what was there is still there, and nothing else.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(300)
class HostileFieldsTest {

    private static final List<String> NO_TEXT = List.of("{}", "[]", "5", "0.5", "true", "[null]");
    private static final List<String> BAD_TEXT = List.of("\"\\ud800\"", "\"\\u0000\"", "\"a\\udfffb\"");
    private static final List<String> NO_NUMBER = List.of(
            "{}", "[]", "\"\"", "\"5\"", "true", "0.5", "1e400", "99999999999999999999999999", "-99999999999999999999");
    private static final List<String> NO_DURATION = List.of(
            "{}", "[]", "true", "\"\"", "\"5\"", "\"PT\"", "\"P1Y\"", "\"PT-5S\"", "\"-PT5S\"", "\"P99999999999D\"");
    private static final List<String> NO_BOOLEAN = List.of("{}", "[]", "5", "\"true\"", "\"\"", "0.5");
    private static final List<String> NO_WORD = List.of("{}", "[]", "5", "true", "\"\"", "\"none\"", "\"\\u0000\"");
    private static final String LONG = "\"" + "x".repeat(1_100) + "\"";
    private static final String LONG_NAME = "\"" + "x".repeat(300) + "\"";

    private Api api;
    private String letter = "";
    private String batch = "";

    /** A route, a good body for it, and bad values for each of its fields. */
    private record Case(String method, String path, Map<String, String> good, Map<String, List<String>> bad) {}

    @BeforeAll
    void start() throws Exception {
        api = Api.start();
        api.post("/v1/topics", "{\"name\": \"t\", \"partitions\": 2, \"maxPayloadBytes\": 2000}");
        String group = "/v1/topics/t/groups/shared";
        assertThat(api.put(group, "{\"start\": \"beginning\"}").status()).isEqualTo(204);
        publish("dead");
        Api.Answer dead = api.post(group + "/pull", "{\"wait\": \"PT30S\"}");
        api.post(
                group + "/batches/" + dead.at("/token") + "/reject",
                "{\"offsets\": [" + dead.json().at("/messages/0/offset").asLong() + "]}");
        letter = group + "/dead-letters/"
                + api.get(group + "/dead-letters").json().at("/items/0/id").asLong();
        publish("pulled");
        batch = group + "/batches/"
                + api.post(group + "/pull", "{\"wait\": \"PT30S\", \"lease\": \"PT1H\"}")
                        .at("/token");
        publish("witness");
    }

    @AfterAll
    void stop() {
        api.close();
    }

    private void publish(String text) throws Exception {
        assertThat(api.post("/v1/topics/t/messages", "{\"text\": \"" + text + "\", \"key\": \"" + text + "\"}")
                        .status())
                .isEqualTo(201);
    }

    private static List<String> with(List<String> some, String... more) {
        List<String> all = new ArrayList<>(some);
        all.addAll(List.of(more));
        return all;
    }

    private List<Case> cases() {
        List<String> noLease = with(NO_DURATION, "\"PT0S\"", "\"P2D\"");
        List<String> noName =
                with(with(NO_TEXT, BAD_TEXT.toArray(String[]::new)), "\"\"", "\"a\\nb\"", "\"\\u007f\"", LONG_NAME);
        List<String> noPositive = with(NO_DURATION, "\"PT0S\"");
        Map<String, List<String>> topic = Map.ofEntries(
                Map.entry("namespace", noName),
                Map.entry("task", noName),
                Map.entry("semantics", NO_WORD),
                Map.entry("ordering", NO_WORD),
                Map.entry("tracking", NO_WORD),
                Map.entry("partitions", with(NO_NUMBER, "0", "-1", "1025", "2147483648")),
                Map.entry("lanes", with(NO_NUMBER, "0", "-1", "3", "2147483648")),
                Map.entry("priorityLevels", NO_BOOLEAN),
                Map.entry("retention", noPositive),
                Map.entry("maxPayloadBytes", with(NO_NUMBER, "0", "-1", "268435457")),
                Map.entry("segmentBytes", with(NO_NUMBER, "0", "-1", "8191")),
                Map.entry("segmentAge", noPositive),
                Map.entry("unheard", noPositive),
                Map.entry("refuseUnheard", NO_BOOLEAN),
                Map.entry("zombieTtl", noPositive),
                Map.entry("hardCap", noPositive));
        Map<String, List<String>> newTopic = new HashMap<>(topic);
        newTopic.put("name", with(noName, "null"));
        Map<String, List<String>> message = Map.of(
                "text", with(NO_TEXT, "\"\\ud800\"", "\"a\\udc00\"", "\"" + "x".repeat(2_001) + "\""),
                "key", with(with(NO_TEXT, BAD_TEXT.toArray(String[]::new)), LONG),
                "headers",
                        List.of(
                                "[]",
                                "5",
                                "\"a\"",
                                "{\"a\": null}",
                                "{\"a\": {}}",
                                "{\"a\": 5}",
                                "{\"a\": \"\\u0000\"}",
                                "{\"a\": \"" + "x".repeat(66_000) + "\"}"),
                "contentType", with(with(NO_TEXT, BAD_TEXT.toArray(String[]::new)), "\"\"", LONG_NAME),
                "correlationId", with(with(NO_TEXT, BAD_TEXT.toArray(String[]::new)), LONG),
                "priority", NO_WORD,
                "delay", with(NO_DURATION, "\"P36501D\""),
                "deliverAt",
                        List.of(
                                "{}",
                                "[]",
                                "true",
                                "\"\"",
                                "\"now\"",
                                "\"2026-13-01T00:00:00Z\"",
                                "\"2026-01-01\"",
                                "\"+10000-01-01T00:00:00Z\""),
                "idempotencyKey", with(with(NO_TEXT, BAD_TEXT.toArray(String[]::new)), "\"\"", LONG));
        Map<String, List<String>> settling = Map.of(
                "offsets",
                List.of(
                        "{}",
                        "5",
                        "\"a\"",
                        "[null]",
                        "[0.5]",
                        "[\"a\"]",
                        "[99999999999999999999]",
                        "[-1]",
                        "[999999]"));
        String group = "/v1/topics/t/groups/shared";
        return List.of(
                new Case("POST", "/v1/topics", Map.of("name", "\"new\"", "partitions", "2"), newTopic),
                new Case("PATCH", "/v1/topics/t", Map.of(), with(topic, "name", noName)),
                new Case("POST", "/v1/topics/t/messages", Map.of("text", "\"no\""), message),
                new Case(
                        "PUT",
                        group,
                        Map.of("start", "\"beginning\""),
                        Map.of(
                                "start",
                                        with(
                                                NO_TEXT,
                                                "\"\"",
                                                "\"offset:-1\"",
                                                "\"offset:x\"",
                                                "\"message:x\"",
                                                "\"offset:99999999999999999999\"",
                                                "\"2026\""),
                                "attempts", with(NO_NUMBER, "0", "-1", "1001"),
                                "stopKey", NO_BOOLEAN,
                                "keys",
                                        List.of(
                                                "{}",
                                                "5",
                                                "\"a\"",
                                                "[]",
                                                "[null]",
                                                "[5]",
                                                "[\"\\u0000\"]",
                                                "[\"\\ud800\"]",
                                                "[" + LONG + "]"))),
                new Case(
                        "POST",
                        group + "/pull",
                        Map.of("max", "1"),
                        Map.of(
                                "max",
                                with(NO_NUMBER, "0", "-1", "10001"),
                                "lease",
                                noLease,
                                "wait",
                                with(NO_DURATION, "\"PT61S\""))),
                new Case("POST", batch + "/ack", Map.of(), settling),
                new Case("POST", batch + "/nack", Map.of(), with(settling, "delay", with(NO_DURATION, "\"P361D\""))),
                new Case(
                        "POST",
                        batch + "/reject",
                        Map.of(),
                        with(settling, "offsets", with(settling.get("offsets"), "null"))),
                new Case("POST", batch + "/extend", Map.of(), Map.of("lease", noLease)),
                new Case(
                        "POST",
                        group + "/seek",
                        Map.of("to", "\"beginning\"", "dryRun", "true"),
                        Map.of(
                                "to",
                                with(
                                        NO_TEXT,
                                        "null",
                                        "\"\"",
                                        "\"offset:-1\"",
                                        "\"offset:x\"",
                                        "\"message:\"",
                                        "\"2026\""),
                                "partition",
                                with(NO_NUMBER, "0", "-1", "2"),
                                "dryRun",
                                NO_BOOLEAN,
                                "force",
                                NO_BOOLEAN)),
                new Case(
                        "PATCH",
                        letter,
                        Map.of("contentType", "\"text/plain\""),
                        Map.of(
                                "text", with(NO_TEXT, "\"\\ud800\"", "\"" + "x".repeat(2_001) + "\""),
                                "base64", with(NO_TEXT, "\"?\"", "\"a\""),
                                "headers", List.of("[]", "5", "\"a\"", "{\"a\": null}", "{\"a\": \"\\u0000\"}"),
                                "contentType",
                                        with(with(NO_TEXT, BAD_TEXT.toArray(String[]::new)), "\"\"", LONG_NAME))),
                new Case(
                        "POST",
                        group + "/dead-letters/redrive",
                        Map.of(),
                        Map.of(
                                "ids",
                                List.of("{}", "5", "\"a\"", "[null]", "[0.5]", "[\"a\"]", "[99999999999999999999]"))),
                new Case(
                        "POST",
                        group + "/dead-letters/discard",
                        Map.of(),
                        Map.of(
                                "ids",
                                List.of("{}", "5", "\"a\"", "[null]", "[0.5]", "[\"a\"]", "[99999999999999999999]"))),
                new Case(
                        "POST",
                        "/v1/keys",
                        Map.of("name", "\"k\"", "verbs", "[\"READ\"]"),
                        Map.of(
                                "name", with(noName, "null", "\" \""),
                                "verbs", List.of("{}", "5", "\"READ\"", "[]", "[null]", "[\"SHOUT\"]", "[5]", "null"),
                                "topics", with(noName, "\" \""),
                                "groups", with(noName, "\" \""),
                                "expiresIn", with(NO_DURATION, "\"PT0S\"", "\"P10001D\""))));
    }

    private static Map<String, List<String>> with(Map<String, List<String>> some, String field, List<String> bad) {
        Map<String, List<String>> all = new HashMap<>(some);
        all.put(field, bad);
        return all;
    }

    private static String body(Map<String, String> good, String field, String value) {
        Map<String, String> fields = new TreeMap<>(good);
        fields.put(field, value);
        List<String> said = new ArrayList<>();
        fields.forEach((name, its) -> said.add("\"" + name + "\": " + its));
        return "{" + String.join(", ", said) + "}";
    }

    private @Nullable String flaw(Case its, String field, String body) throws Exception {
        try (RawClient client = new RawClient(api.url())) {
            RawClient.Raw answer = client.ask(
                    its.method + " " + its.path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                            + "Authorization: Bearer " + api.key() + "\r\n",
                    body);
            if (answer.status() < 400 || answer.status() >= 500) {
                return "it is " + answer.status() + " " + answer.body();
            }
            JsonNode problem = Json.MAPPER.readTree(answer.body());
            String named = problem.path("field").asString();
            return named.equals(field) || named.startsWith(field + ".") || named.startsWith(field + "[")
                    ? null
                    : "it names \"" + named + "\": " + answer.body();
        }
    }

    @Test
    void one_thing_that_is_wrong_is_refused_by_its_name_and_nothing_is_lost() throws Exception {
        List<String> wrong = new ArrayList<>();
        int count = 0;
        for (Case its : cases()) {
            for (Map.Entry<String, List<String>> bad : its.bad.entrySet()) {
                for (String value : bad.getValue()) {
                    String flaw = flaw(its, bad.getKey(), body(its.good, bad.getKey(), value));
                    if (flaw != null) {
                        wrong.add(its.method + " " + its.path + " " + bad.getKey() + " "
                                + value.substring(0, Math.min(60, value.length())) + ": " + flaw);
                    }
                    count++;
                }
            }
        }
        assertThat(wrong).isEmpty();
        assertThat(count).isGreaterThan(500);
        assertThat(texts()).containsExactlyInAnyOrder("dead", "pulled", "witness");
        assertThat(api.get("/v1/topics").json().at("/items")).hasSize(1);
        assertThat(api.get("/v1/keys").json().at("/items")).hasSize(1);
        assertThat(api.get(letter).at("/text")).isEqualTo("dead");
        assertThat(api.post(batch + "/ack", "{}").status())
                .as("the batch is as it was")
                .isEqualTo(200);
    }

    private List<String> texts() throws Exception {
        List<String> texts = new ArrayList<>();
        for (int partition = 0; partition < 2; partition++) {
            api.get("/v1/topics/t/messages?from=0&partition=" + partition)
                    .json()
                    .at("/messages")
                    .forEach(message -> texts.add(message.path("text").asString()));
        }
        return texts;
    }

    @Test
    void headers_that_make_no_sense_are_refused_or_mean_nothing() throws Exception {
        String publish = "POST /v1/topics/t/messages HTTP/1.1\r\nHost: localhost\r\n";
        String tail = "GET /v1/topics/t/tail HTTP/1.1\r\nHost: localhost\r\n";
        String key = "Authorization: Bearer " + api.key() + "\r\n";
        String json = "Content-Type: application/json\r\n";
        List<String> heads = new ArrayList<>();
        for (String bad : List.of("", " ", "x".repeat(1_100), "a\r\nIdempotency-Key: b")) {
            heads.add(publish + key + json + "Idempotency-Key: " + bad + "\r\n");
        }
        for (String bad : List.of("x", "-1", "1-", "'", "99999999999999999999", "0:0:0", "{}")) {
            heads.add(tail + key + "Last-Event-ID: " + bad + "\r\n");
        }
        for (String bad : List.of(
                "",
                "Bearer",
                "Bearer ",
                "Basic YTpi",
                "Bearer x",
                "Bearer " + "x".repeat(5_000),
                "bearer tl_" + "a".repeat(43))) {
            heads.add(publish + json + "Authorization: " + bad + "\r\n");
        }
        heads.add(publish + key + "Authorization: Bearer x\r\n" + json);
        heads.add(publish + "Authorization: Bearer x\r\n" + key + json);
        for (String bad : List.of(
                "text/plain",
                "a/b/c",
                "*/*",
                "application/xml",
                "application/json5",
                "multipart/form-data",
                ";",
                "application")) {
            heads.add(publish + key + "Content-Type: " + bad + "\r\n");
        }
        for (String bad : List.of(
                "Content-Length: 5",
                "Content-Length: -1",
                "Content-Length: x",
                "Transfer-Encoding: gzip",
                "Transfer-Encoding: chunked",
                "Transfer-Encoding: x, chunked",
                "Content-Length: 99999999999999999999")) {
            heads.add(publish + key + json + bad + "\r\n");
        }
        heads.add(publish + key + json + "Host: other\r\n");
        heads.add(publish + key + json + "X Y: z\r\n");
        heads.add(publish + key + json + ": z\r\n");
        heads.add(publish + key + json + "X: \u0000\r\n");
        heads.add(publish + key + json + "Expect: miracles\r\n");
        List<String> wrong = new ArrayList<>();
        for (String head : heads) {
            try (RawClient client = new RawClient(api.url())) {
                RawClient.Raw answer = client.ask(head, "{\"text\": \"no\"}");
                if (answer.status() < 400
                        || answer.status() >= 500
                        || !"application/problem+json".equals(answer.headers().get("content-type"))) {
                    wrong.add(head.toLowerCase(Locale.ROOT) + answer);
                }
            }
        }
        assertThat(wrong).isEmpty();
        assertThat(texts()).doesNotContain("no");
    }
}
