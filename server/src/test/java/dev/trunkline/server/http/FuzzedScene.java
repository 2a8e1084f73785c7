package dev.trunkline.server.http;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Duration;
import java.util.EnumSet;
import tools.jackson.databind.JsonNode;

/** What one caller asks about: a topic to do everything to, with a dead letter and an open batch, and one that messages are published to. Made anew when it is gone. */
final class FuzzedScene {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int GROUPS = 12;

    private final RawClient client;
    private final ApiKeys keys;
    private final FuzzedOutcome outcome;
    private final String ledger;
    private final String scratch;
    private String key = "";
    private HostileRequests.Scene now = FuzzedRequests.ANY;
    private int groups = GROUPS;

    FuzzedScene(Api api, ApiKeys keys, FuzzedOutcome outcome, String name) throws Exception {
        this.client = new RawClient(api.url());
        this.keys = keys;
        this.outcome = outcome;
        this.ledger = "ledger-" + name;
        this.scratch = "scratch-" + name;
        newKey();
        create(ledger);
        create(scratch);
        outcome.taken(ledger);
    }

    FuzzedOutcome.Taken taken() {
        return outcome.taken(ledger);
    }

    String fill(String text, Route route) {
        return fill(text, route.verb().filter(Verb.PUBLISH::equals).isPresent() ? ledger : now.topic(), now);
    }

    /** With nothing that could be spoiled. */
    String fillSafely(String text, Route route) {
        boolean publishes = route.verb().filter(Verb.PUBLISH::equals).isPresent();
        return fill(text, publishes ? ledger : "nowhere", new HostileRequests.Scene("", "g", "t", "0", "0", "0"));
    }

    private String fill(String text, String topic, HostileRequests.Scene with) {
        return text.replace(FuzzedRequests.ANY.topic(), topic)
                .replace(FuzzedRequests.ANY.group(), with.group())
                .replace(FuzzedRequests.ANY.token(), with.token())
                .replace(FuzzedRequests.ANY.letter(), with.letter())
                .replace(FuzzedRequests.ANY.message(), with.message())
                .replace(FuzzedRequests.ANY.key(), with.key())
                .replace(FuzzedRequests.ANY_KEY, key);
    }

    /** A new group of the same topic, or of a new topic, if that can not be used any more. */
    void renew() throws IOException {
        if (++groups < GROUPS) {
            try {
                now = stage();
                return;
            } catch (IllegalStateException spoiled) {
                // It has been dropped, or altered.
            }
        }
        drop(scratch);
        create(scratch);
        groups = 0;
        now = stage();
    }

    private HostileRequests.Scene stage() throws IOException {
        String group = "g" + groups;
        String path = "/v1/topics/" + scratch + "/groups/" + group;
        ask(204, "PUT", path, "{\"start\": \"now\"}");
        outcome.groups.add(scratch + "\n" + group);
        String message = publish();
        JsonNode dead = pull(path, "PT1H");
        ask(
                200,
                "POST",
                path + "/batches/" + dead.path("token").asString() + "/reject",
                "{\"offsets\": [" + dead.at("/messages/0/offset").asLong() + "]}");
        publish();
        String token = pull(path, "PT1H").path("token").asString();
        publish();
        String letter =
                ask(200, "GET", path + "/dead-letters", "").at("/items/0/id").asString();
        String spare = ask(201, "POST", "/v1/keys", "{\"name\": \"spare\", \"verbs\": [\"READ\"]}")
                .path("id")
                .asString();
        outcome.keys.increment();
        return new HostileRequests.Scene(scratch, group, token, letter, message, spare);
    }

    private String publish() throws IOException {
        return ask(201, "POST", "/v1/topics/" + scratch + "/messages", "{\"text\": \"good\"}")
                .at("/messages/0/id")
                .asString();
    }

    private JsonNode pull(String group, String lease) throws IOException {
        return ask(200, "POST", group + "/pull", "{\"max\": 1, \"wait\": \"PT10S\", \"lease\": \"" + lease + "\"}");
    }

    private void create(String topic) throws IOException {
        ask(
                201,
                "POST",
                "/v1/topics",
                "{\"name\": \"%s\", \"partitions\": 1, \"semantics\": \"PUB_SUB\", \"maxPayloadBytes\": %d}"
                        .formatted(topic, GoodRequests.MOST_PAYLOAD));
        outcome.topic(topic, 1);
    }

    /** Unless somebody else has. */
    void drop(String topic) throws IOException {
        if (send("DELETE", "/v1/topics/" + HostileRequests.encoded(topic), "").status() == Route.NO_CONTENT) {
            outcome.topic(topic, -1);
        }
    }

    /** @throws IllegalStateException if something else is answered */
    private JsonNode ask(int status, String method, String path, String body) throws IOException {
        RawClient.Raw answer = send(method, path, body);
        if (answer.status() != status) {
            throw new IllegalStateException("a good request is refused: " + method + " " + path + " " + body + ": "
                    + answer.status() + " " + answer.body());
        }
        return Json.MAPPER.readTree(answer.body().isEmpty() ? "{}" : answer.body());
    }

    private RawClient.Raw send(String method, String path, String body) throws IOException {
        RawClient.Raw answer = client.ask(head(method, path), body.getBytes(StandardCharsets.UTF_8), PATIENCE);
        if (answer.status() == 401) { // it was revoked
            newKey();
            answer = client.ask(head(method, path), body.getBytes(StandardCharsets.UTF_8), PATIENCE);
        }
        return answer;
    }

    private String head(String method, String path) {
        return method + " " + path
                + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer " + key
                + "\r\n";
    }

    private void newKey() throws IOException {
        try {
            key = keys.create("fuzzing", EnumSet.allOf(Verb.class), "*", "*", null)
                    .key();
            outcome.keys.increment();
        } catch (SQLException e) {
            throw new IOException(e);
        }
    }
}
