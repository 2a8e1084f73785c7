package dev.trunkline.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.server.Cli;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who may do what: every route with every kind of key. A route that is added is in here by itself. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(120)
class AccessTest {

    private TestIssuer issuer;
    private Api api;

    @BeforeAll
    void start() throws Exception {
        issuer = new TestIssuer();
        api = Api.start(Api.options(Api.address(Cli.freshDatabase())).withIssuer(issuer.options()));
        api.post("/v1/topics", "{\"name\": \"allowed\", \"partitions\": 1, \"semantics\": \"PUB_SUB\"}");
        api.post("/v1/topics", "{\"name\": \"other\", \"partitions\": 1, \"semantics\": \"PUB_SUB\"}");
    }

    @AfterAll
    void stop() throws Exception {
        api.close();
        issuer.close();
    }

    private Api with(String verbs, String topics, String groups) throws Exception {
        Api.Answer key = api.post(
                "/v1/keys",
                "{\"name\": \"k\", \"verbs\": [%s], \"topics\": \"%s\", \"groups\": \"%s\"}"
                        .formatted(verbs, topics, groups));
        assertThat(key.status()).as(key.toString()).isEqualTo(201);
        return api.as(key.at("/key"));
    }

    /** Whether somebody gets past the guard: what then becomes of the request, which is a bad one, does not matter. */
    private static boolean passes(Api caller, Route route, String topic, String group) throws Exception {
        String path = route.template()
                .replace("{topic}", topic)
                .replace("{group}", group)
                .replace("{token}", "1-0-1-00000000-0000-0000-0000-000000000000")
                .replace("{id}", "999999");
        int status = caller.send(
                        route.method(),
                        path + "?no-such-parameter=1",
                        BodyPublishers.ofString("bad"),
                        "application/json")
                .status();
        assertThat(status).as(route + " gives " + status).isLessThan(500);
        return status != 401 && status != 403;
    }

    private List<Route> guarded() throws Exception {
        return api.routes().stream().filter(route -> route.verb().isPresent()).toList();
    }

    /** What each route needs, said once more: a route that is given another verb, or a new one, is looked at here by somebody. */
    private static final Map<String, String> VERBS = Map.ofEntries(
            Map.entry("GET /health", "none"),
            Map.entry("GET /ready", "none"),
            Map.entry("GET /openapi.json", "none"),
            Map.entry("GET /metrics", "READ"),
            Map.entry("GET /v1/topics", "READ"),
            Map.entry("POST /v1/topics", "ADMIN"),
            Map.entry("GET /v1/topics/{topic}", "READ"),
            Map.entry("PATCH /v1/topics/{topic}", "ADMIN"),
            Map.entry("DELETE /v1/topics/{topic}", "ADMIN"),
            Map.entry("POST /v1/topics/{topic}/messages", "PUBLISH"),
            Map.entry("GET /v1/topics/{topic}/messages", "READ"),
            Map.entry("GET /v1/topics/{topic}/tail", "READ"),
            Map.entry("GET /v1/topics/{topic}/messages/{id}/audit", "READ"),
            Map.entry("PUT /v1/topics/{topic}/groups/{group}", "CONSUME"),
            Map.entry("POST /v1/topics/{topic}/groups/{group}/pull", "CONSUME"),
            Map.entry("GET /v1/topics/{topic}/groups/{group}/consume", "CONSUME"),
            Map.entry("POST /v1/topics/{topic}/groups/{group}/batches/{token}/ack", "CONSUME"),
            Map.entry("POST /v1/topics/{topic}/groups/{group}/batches/{token}/nack", "CONSUME"),
            Map.entry("POST /v1/topics/{topic}/groups/{group}/batches/{token}/reject", "CONSUME"),
            Map.entry("POST /v1/topics/{topic}/groups/{group}/batches/{token}/release", "CONSUME"),
            Map.entry("POST /v1/topics/{topic}/groups/{group}/batches/{token}/extend", "CONSUME"),
            Map.entry("GET /v1/groups", "READ"),
            Map.entry("GET /v1/topics/{topic}/groups/{group}", "READ"),
            Map.entry("GET /v1/topics/{topic}/groups/{group}/lag", "READ"),
            Map.entry("POST /v1/topics/{topic}/groups/{group}/seek", "ADMIN"),
            Map.entry("POST /v1/topics/{topic}/groups/{group}/pause", "ADMIN"),
            Map.entry("POST /v1/topics/{topic}/groups/{group}/resume", "ADMIN"),
            Map.entry("POST /v1/topics/{topic}/groups/{group}/cancel", "ADMIN"),
            Map.entry("GET /v1/topics/{topic}/groups/{group}/explain/{id}", "READ"),
            Map.entry("GET /v1/topics/{topic}/groups/{group}/dead-letters", "READ"),
            Map.entry("GET /v1/topics/{topic}/groups/{group}/dead-letters/{id}", "READ"),
            Map.entry("PATCH /v1/topics/{topic}/groups/{group}/dead-letters/{id}", "ADMIN"),
            Map.entry("POST /v1/topics/{topic}/groups/{group}/dead-letters/redrive", "ADMIN"),
            Map.entry("POST /v1/topics/{topic}/groups/{group}/dead-letters/discard", "ADMIN"),
            Map.entry("GET /v1/keys", "ADMIN"),
            Map.entry("POST /v1/keys", "ADMIN"),
            Map.entry("DELETE /v1/keys/{id}", "ADMIN"),
            Map.entry("GET /v1/audit", "ADMIN"));

    @Test
    void every_route_needs_what_is_written_down_here() {
        Map<String, String> served = new TreeMap<>();
        api.routes()
                .forEach(route -> served.put(
                        route.toString(), route.verb().map(Verb::name).orElse("none")));
        assertThat(served).isEqualTo(new TreeMap<>(VERBS));
        assertThat(api.routes())
                .filteredOn(route -> !route.method().equals("GET"))
                .noneMatch(route -> route.verb().isEmpty() || route.verb().equals(Optional.of(Verb.READ)));
    }

    /** Of every verb, with a key and with a JWT. */
    private List<Map<Verb, Api>> callers() throws Exception {
        Map<Verb, Api> keys = new EnumMap<>(Verb.class);
        Map<Verb, Api> tokens = new EnumMap<>(Verb.class);
        for (Verb verb : Verb.values()) {
            keys.put(verb, with("\"" + verb + "\"", "*", "*"));
            tokens.put(verb, api.as(issuer.token(Map.of("verbs", List.of(verb.name()), "topics", "*", "groups", "*"))));
        }
        return List.of(keys, tokens);
    }

    @Test
    void every_route_lets_in_who_has_its_verb_and_nobody_else() throws Exception {
        List<Map<Verb, Api>> callers = callers();
        List<String> wrong = new ArrayList<>();
        for (Route route : guarded()) {
            for (Verb verb : Verb.values()) {
                boolean may = verb.name().equals(VERBS.get(route.toString()));
                for (Map<Verb, Api> kind : callers) {
                    if (passes(kind.get(verb), route, "none", "none") != may) {
                        wrong.add(route + " with " + verb);
                    }
                }
            }
            if (passes(api.as(null), route, "none", "none")) {
                wrong.add(route + " with no key");
            }
        }
        assertThat(wrong).isEmpty();
        assertThat(guarded()).hasSizeGreaterThan(10);
    }

    @Test
    void a_key_is_good_for_its_topics_and_groups_only() throws Exception {
        Api caller = with("\"READ\", \"PUBLISH\", \"CONSUME\", \"ADMIN\"", "allow*", "mine.*");
        List<String> wrong = new ArrayList<>();
        for (Route route : guarded()) {
            boolean ofTopic = route.template().contains("{topic}");
            boolean ofGroup = route.template().contains("{group}");
            boolean ofAllGroups = !ofGroup && route.verb().equals(Optional.of(Verb.ADMIN));
            if (passes(caller, route, "allowed", "mine.1") != (ofTopic && !ofAllGroups)) {
                wrong.add(route + " of its own");
            }
            if (passes(caller, route, "other", "mine.1")) {
                wrong.add(route + " of another topic, or of none");
            }
            if (ofGroup && passes(caller, route, "allowed", "theirs")) {
                wrong.add(route + " of another group");
            }
        }
        assertThat(wrong).isEmpty();
    }

    @Test
    void a_key_for_a_group_is_none_for_topics_other_groups_or_keys() throws Exception {
        Api caller = with("\"READ\", \"PUBLISH\", \"CONSUME\", \"ADMIN\"", "*", "mine");
        List<String> wrong = new ArrayList<>();
        for (Route route : guarded()) {
            boolean ofTopic = route.template().contains("{topic}");
            boolean ofGroup = route.template().contains("{group}");
            boolean may = ofTopic && (ofGroup || !route.verb().equals(Optional.of(Verb.ADMIN)));
            if (passes(caller, route, "none", "mine") != may) {
                wrong.add(route + (may ? " is refused" : " is allowed"));
            }
        }
        assertThat(wrong).isEmpty();
    }

    @Test
    void what_became_of_a_message_is_told_of_the_callers_groups_only() throws Exception {
        for (String group : List.of("mine.1", "theirs")) {
            api.put("/v1/topics/allowed/groups/" + group, "{\"start\": \"now\"}");
        }
        long id = api.post("/v1/topics/allowed/messages", "{\"text\": \"a\"}")
                .json()
                .at("/messages/0/id")
                .asLong();
        String path = "/v1/topics/allowed/messages/" + id + "/audit";
        assertThat(api.get(path).text()).contains("mine.1", "theirs");
        assertThat(with("\"READ\"", "*", "mine.*").get(path).text())
                .contains("mine.1")
                .doesNotContain("theirs");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "{\"name\": \"k\"}",
                "{\"name\": \"k\", \"verbs\": []}",
                "{\"name\": \"k\", \"verbs\": [null]}",
                "{\"name\": \"k\", \"verbs\": [\"SHOUT\"]}",
                "{\"name\": \" \", \"verbs\": [\"READ\"]}",
                "{\"name\": \"a\\nb\", \"verbs\": [\"READ\"]}",
                "{\"name\": \"a\\u0000b\", \"verbs\": [\"READ\"]}",
                "{\"name\": \"\\ud800\", \"verbs\": [\"READ\"]}",
                "{\"name\": \"k\", \"verbs\": [\"READ\"], \"expiresIn\": \"PT-1S\"}",
                "{\"name\": \"k\", \"verbs\": [\"READ\"], \"expiresIn\": \"P9999999D\"}",
                "{\"name\": \"k\", \"verbs\": [\"READ\"], \"expiresIn\": \"PT9223372036854775807S\"}",
                "{\"name\": \"k\", \"verbs\": [\"READ\"], \"topics\": \"\"}",
                "{\"name\": \"k\", \"verbs\": [\"READ\"], \"topics\": \"\\u0000\"}"
            })
    void a_key_that_makes_no_sense_is_refused(String body) throws Exception {
        Api.Answer answer = api.post("/v1/keys", body);
        assertThat(answer.status()).as(answer.toString()).isEqualTo(400);
        assertThat(answer.type()).isEqualTo("application/problem+json");
    }

    @Test
    void a_key_with_a_long_name_or_that_is_not_there_is_a_problem() throws Exception {
        assertThat(api.post("/v1/keys", "{\"name\": \"" + "x".repeat(300) + "\", \"verbs\": [\"READ\"]}")
                        .status())
                .isEqualTo(400);
        assertThat(api.delete("/v1/keys/99999999999").status()).isEqualTo(404);
        assertThat(api.delete("/v1/keys/x").status()).isEqualTo(400);
    }

    @Test
    void a_key_that_was_revoked_or_has_expired_is_good_for_nothing() throws Exception {
        Api.Answer made =
                api.post("/v1/keys", "{\"name\": \"short\", \"verbs\": [\"READ\"], \"expiresIn\": \"PT0.5S\"}");
        Api soonOver = api.as(made.at("/key"));
        org.awaitility.Awaitility.await().until(() -> soonOver.get("/v1/topics").status() == 401);
        Api.Answer other = api.post("/v1/keys", "{\"name\": \"r\", \"verbs\": [\"READ\"]}");
        assertThat(api.as(other.at("/key")).get("/v1/topics").status()).isEqualTo(200);
        assertThat(api.delete("/v1/keys/" + other.json().at("/id").asInt()).status())
                .isEqualTo(204);
        assertThat(api.as(other.at("/key")).get("/v1/topics").status()).isEqualTo(401);
        assertThat(api.get("/v1/keys").text()).contains("short").doesNotContain(made.at("/key"), other.at("/key"));
    }

    @Test
    void who_has_decided_what_is_noted_and_nothing_that_is_secret() throws Exception {
        Api.Answer made = api.post("/v1/keys", "{\"name\": \"auditor\", \"verbs\": [\"ADMIN\"]}");
        Api auditor = api.as(made.at("/key"));
        auditor.post("/v1/topics", "{\"name\": \"audited\", \"partitions\": 1}");
        auditor.delete("/v1/topics/audited");
        String log = auditor.get("/v1/audit?limit=1000").text();
        assertThat(log)
                .contains(
                        "key " + made.json().at("/id").asInt() + " (auditor)",
                        "DELETE /v1/topics/{topic}",
                        "/v1/topics/audited",
                        "/v1/topics {\\\"name\\\":\\\"audited\\\",\\\"partitions\\\":1}")
                .doesNotContain(made.at("/key"));
    }
}
