package dev.trunkline.server.http;

import static dev.trunkline.server.http.HostileValues.base64;
import static dev.trunkline.server.http.HostileValues.booleans;
import static dev.trunkline.server.http.HostileValues.durations;
import static dev.trunkline.server.http.HostileValues.headers;
import static dev.trunkline.server.http.HostileValues.longs;
import static dev.trunkline.server.http.HostileValues.numbers;
import static dev.trunkline.server.http.HostileValues.orNull;
import static dev.trunkline.server.http.HostileValues.payloadTexts;
import static dev.trunkline.server.http.HostileValues.payloads;
import static dev.trunkline.server.http.HostileValues.places;
import static dev.trunkline.server.http.HostileValues.text;
import static dev.trunkline.server.http.HostileValues.textLists;
import static dev.trunkline.server.http.HostileValues.texts;
import static dev.trunkline.server.http.HostileValues.times;
import static dev.trunkline.server.http.HostileValues.words;

import dev.trunkline.rig.HostileInputs;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A good body for a route, and what each of its fields may be.
 *
 * @param body its fields, as JSON
 * @param fields what can be said in them, good and bad
 * @param elsewhere whether what is good is done to a topic and group of its own: it changes what others need
 */
record GoodRequests(Map<String, String> body, Map<String, List<HostileValues.Value>> fields, boolean elsewhere) {

    /** Of a topic. */
    static final int MOST_PAYLOAD = 2_000;

    private static final Duration MOMENT = Duration.ofMillis(1);
    private static final Duration LEAST = Duration.ofNanos(1);
    private static final Duration LONG = Duration.ofDays(36_500);

    /** None, if the route takes no body. A route with a body that is not in here is an error: it is to be added. */
    static List<GoodRequests> of(Route route) {
        if (route.bodies().isEmpty()) {
            return List.of();
        }
        return switch (route.toString()) {
            case "POST /v1/topics" -> List.of(one(Map.of("name", "\"no\"", "partitions", "1"), newTopic()));
            case "PATCH /v1/topics/{topic}" -> List.of(new GoodRequests(Map.of(), alteredTopic(), true));
            case "POST /v1/topics/{topic}/messages" -> messages();
            case "PUT /v1/topics/{topic}/groups/{group}" -> List.of(one(Map.of("start", "\"beginning\""), group()));
            case "POST /v1/topics/{topic}/groups/{group}/pull" -> List.of(one(Map.of("max", "1"), pull()));
            case "POST /v1/topics/{topic}/groups/{group}/seek" -> seeks();
            case "PATCH /v1/topics/{topic}/groups/{group}/dead-letters/{id}" -> letters();
            case "POST /v1/topics/{topic}/groups/{group}/dead-letters/redrive",
                    "POST /v1/topics/{topic}/groups/{group}/dead-letters/discard" ->
                List.of(one(Map.of("ids", "[]"), Map.of("ids", longs(true))));
            case "POST /v1/keys" -> List.of(one(Map.of("name", "\"k\"", "verbs", "[\"READ\"]"), key()));
            default -> {
                if (!route.template().contains("/batches/{token}/")) {
                    throw new AssertionError(route + " has a body: say here what is good and bad in it");
                }
                yield List.of(
                        route.template().endsWith("/extend")
                                ? one(Map.of("lease", "\"PT1H\""), Map.of("lease", leases(Duration.ofDays(1))))
                                : one(Map.of("offsets", "[]"), settlement(route.template())));
            }
        };
    }

    private static GoodRequests one(Map<String, String> body, Map<String, List<HostileValues.Value>> fields) {
        return new GoodRequests(body, fields, false);
    }

    /** The body with one field as it is given. */
    String with(String field, String json) {
        Map<String, String> all = new TreeMap<>(body);
        all.put(field, json);
        return json(all);
    }

    String json() {
        return json(body);
    }

    private static String json(Map<String, String> fields) {
        StringBuilder json = new StringBuilder("{");
        fields.forEach((name, value) -> json.append(json.length() == 1 ? "" : ", ")
                .append('"')
                .append(name)
                .append("\": ")
                .append(value));
        return json.append("}").toString();
    }

    private static List<HostileValues.Value> leases(Duration sent) {
        return durations(LEAST, Duration.ofDays(1), sent);
    }

    private static Map<String, List<HostileValues.Value>> topic() {
        Map<String, List<HostileValues.Value>> fields = new HashMap<>();
        fields.put("semantics", words("QUEUE", "PUB_SUB"));
        fields.put("ordering", words("ORDERED", "THROUGHPUT"));
        fields.put("tracking", words("OFFSET_WATERMARK", "REFERENCE_COUNTING"));
        fields.put("priorityLevels", booleans());
        fields.put("refuseUnheard", booleans());
        fields.put("maxPayloadBytes", numbers(1, 256 << 20, Long.MAX_VALUE));
        fields.put("segmentBytes", numbers(8_192, Long.MAX_VALUE, Long.MAX_VALUE));
        for (String name : List.of("retention", "segmentAge", "unheard", "zombieTtl", "hardCap")) {
            fields.put(name, durations(LEAST, LONG, LONG));
        }
        return fields;
    }

    /** Each good one makes a topic, which takes its time: some of them. */
    private static Map<String, List<HostileValues.Value>> newTopic() {
        Map<String, List<HostileValues.Value>> fields = topic();
        fields.replaceAll((name, values) ->
                values.stream().filter(value -> !value.legal()).toList());
        List<HostileValues.Value> some = texts(HostileValues::isName).stream()
                .filter(value -> !value.legal()
                        || HostileInputs.some(HostileValues::isName).stream()
                                .map(HostileValues::quoted)
                                .anyMatch(value.json()::equals))
                .toList();
        fields.put("name", orNull(some));
        fields.put("namespace", some.stream().filter(value -> !value.legal()).toList());
        fields.put("task", fields.get("namespace"));
        fields.put("partitions", numbers(1, 1_024, 2));
        fields.put("lanes", numbers(1, 1, 1));
        return fields;
    }

    private static Map<String, List<HostileValues.Value>> alteredTopic() {
        Map<String, List<HostileValues.Value>> fields = topic();
        fields.put("name", texts(name -> false));
        fields.put("namespace", texts(HostileValues::isName));
        fields.put("task", texts(HostileValues::isName));
        fields.put("partitions", numbers(1, 1, 1));
        fields.put("lanes", numbers(1, 1, 1));
        return fields;
    }

    private static List<GoodRequests> messages() {
        Map<String, List<HostileValues.Value>> fields = new HashMap<>();
        fields.put("text", payloadTexts(MOST_PAYLOAD));
        fields.put("key", texts(text(0, 1_024)));
        fields.put("headers", headers());
        fields.put("contentType", texts(text(1, 255)));
        fields.put("correlationId", texts(text(0, 1_024)));
        fields.put("priority", words("LOW", "NORMAL", "HIGH"));
        fields.put("delay", durations(Duration.ZERO, LONG, MOMENT));
        fields.put("deliverAt", times());
        fields.put("idempotencyKey", texts(text(1, 1_024)));
        return List.of(
                one(Map.of("text", "\"no\""), fields),
                one(Map.of(), Map.of("base64", base64(MOST_PAYLOAD), "payload", payloads(MOST_PAYLOAD))));
    }

    private static Map<String, List<HostileValues.Value>> group() {
        return Map.of(
                "start", places(),
                "attempts", numbers(1, 1_000, 1_000),
                "stopKey", booleans(),
                "keys", textLists(text(0, 1_024)));
    }

    private static Map<String, List<HostileValues.Value>> pull() {
        return Map.of(
                "max", numbers(1, 10_000, 10_000),
                "lease", leases(Duration.ofDays(1)),
                "wait", durations(Duration.ZERO, Duration.ofSeconds(60), MOMENT));
    }

    private static Map<String, List<HostileValues.Value>> settlement(String template) {
        List<HostileValues.Value> offsets = longs(false);
        Map<String, List<HostileValues.Value>> fields = new HashMap<>();
        fields.put("offsets", template.endsWith("/reject") ? orNull(offsets) : offsets);
        if (template.endsWith("/nack")) {
            fields.put("delay", durations(Duration.ZERO, Duration.ofDays(360), LONG));
        }
        if (template.endsWith("/nack") || template.endsWith("/reject")) {
            fields.put("error", texts(error -> true));
        }
        return fields;
    }

    private static List<GoodRequests> seeks() {
        return List.of(
                one(
                        Map.of("to", "\"beginning\"", "dryRun", "true"),
                        Map.of("to", orNull(places()), "dryRun", booleans(), "force", booleans())),
                new GoodRequests(
                        Map.of("to", "\"beginning\"", "force", "true"), Map.of("partition", numbers(0, 0, 0)), true));
    }

    private static List<GoodRequests> letters() {
        return List.of(one(
                Map.of(),
                Map.of(
                        "text", payloadTexts(MOST_PAYLOAD),
                        "base64", base64(MOST_PAYLOAD),
                        "payload", payloads(MOST_PAYLOAD),
                        "headers", headers(),
                        "contentType", texts(text(1, 255)))));
    }

    private static Map<String, List<HostileValues.Value>> key() {
        return Map.of(
                "name", orNull(texts(name -> HostileValues.isName(name) && !name.isBlank())),
                "verbs", orNull(textLists(verb -> false)),
                "topics", texts(name -> HostileValues.isName(name) && !name.isBlank()),
                "groups", texts(name -> HostileValues.isName(name) && !name.isBlank()),
                "expiresIn", durations(LEAST, Duration.ofDays(10_000), LONG));
    }
}
