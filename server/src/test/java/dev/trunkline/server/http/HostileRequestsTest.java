package dev.trunkline.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/**
 * F29 over HTTP. Good requests for every route, to topics, groups, batches and dead letters that there are, with one thing spoiled: it is refused by the name of
 * that thing, and what was there is still there, and nothing else. What is odd and good is taken. A route that is added is in here by itself, or fails.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(300)
class HostileRequestsTest {

    private static final int LEAST = 500;
    private static final int FEW = 40;
    private static final int MESSAGES = 20;

    private Api api;
    private HostileRequests.Scene witness;
    private HostileRequests.Scene scratch;
    private HostileRequests.Scene elsewhere;
    private final ThreadLocal<RawClient> client = ThreadLocal.withInitial(() -> new RawClient(api.url()));

    @BeforeAll
    void start() throws Exception {
        api = Api.start();
        witness = scene("witness");
        scratch = scene("scratch");
        elsewhere = scene("elsewhere");
    }

    @AfterAll
    void stop() {
        api.close();
    }

    /** A topic with a dead letter, an open batch, and messages that nobody has taken; and a key. */
    private HostileRequests.Scene scene(String topic) throws Exception {
        api.post(
                "/v1/topics",
                "{\"name\": \"%s\", \"partitions\": 1, \"semantics\": \"PUB_SUB\", \"maxPayloadBytes\": %d}"
                        .formatted(topic, GoodRequests.MOST_PAYLOAD));
        String group = "/v1/topics/" + topic + "/groups/g";
        assertThat(api.put(group, "{\"start\": \"beginning\"}").status()).isEqualTo(204);
        String message = publish(topic, "dead").at("/messages/0/id");
        Api.Answer dead = api.post(group + "/pull", "{\"wait\": \"PT30S\"}");
        api.post(group + "/batches/" + dead.at("/token") + "/reject", "{\"offsets\": [0]}");
        publish(topic, "pulled");
        Api.Answer batch = api.post(group + "/pull", "{\"wait\": \"PT30S\", \"lease\": \"PT1H\"}");
        for (int i = 0; i < MESSAGES; i++) {
            publish(topic, "m" + i);
        }
        String letter = api.get(group + "/dead-letters").at("/items/0/id");
        String key = api.post("/v1/keys", "{\"name\": \"%s\", \"verbs\": [\"READ\"]}".formatted(topic))
                .at("/id");
        return new HostileRequests.Scene(topic, "g", batch.at("/token"), letter, message, key);
    }

    private Api.Answer publish(String topic, String text) throws Exception {
        Api.Answer answer = api.post("/v1/topics/" + topic + "/messages", "{\"text\": \"" + text + "\"}");
        assertThat(answer.status()).isEqualTo(201);
        return answer;
    }

    private HostileRequests requests(Route route) {
        return new HostileRequests(route, witness, scratch, elsewhere, String.valueOf(api.key()));
    }

    @Test
    void one_thing_that_is_bad_is_refused_by_its_name_and_nothing_is_lost() throws Exception {
        List<String> before = state();
        Queue<String> wrong = new ConcurrentLinkedQueue<>();
        Map<Route, List<HostileRequests.Odd>> good = new LinkedHashMap<>();
        int bad = 0;
        try (ExecutorService callers = Executors.newFixedThreadPool(8)) {
            for (Route route : api.routes()) {
                List<HostileRequests.Odd> all = some(requests(route).all());
                bad += count(route, all);
                all.stream().filter(odd -> !odd.legal()).forEach(odd -> callers.execute(() -> ask(route, odd, wrong)));
                good.put(route, all.stream().filter(HostileRequests.Odd::legal).toList());
            }
        }
        try (ExecutorService callers = Executors.newFixedThreadPool(8)) { // what they make is not there before
            good.forEach((route, all) -> all.forEach(odd -> callers.execute(() -> ask(route, odd, wrong))));
        }
        assertThat(wrong).isEmpty();
        System.out.println(bad + " bad requests were refused");
        assertThat(state()).isEqualTo(before);
        assertThat(api.get("/ready").status()).isEqualTo(200);
        List<Route> routes = new ArrayList<>(api.routes());
        routes.sort(Comparator.comparingInt(HostileRequestsTest::ends));
        for (Route route : routes) { // else something else may have been bad
            ask(route, requests(route).good(), wrong);
        }
        assertThat(wrong).isEmpty();
        String batch = "/v1/topics/witness/groups/g/batches/" + witness.token();
        assertThat(api.post(batch + "/ack", "{}").status()).isEqualTo(200);
        assertThat(pulled()).containsExactlyElementsOf(texts("m"));
    }

    @Test
    void headers_that_make_no_sense_are_refused_or_mean_nothing() throws Exception {
        String publish = "POST /v1/topics/witness/messages HTTP/1.1\r\nHost: localhost\r\n";
        String tail = "GET /v1/topics/witness/tail HTTP/1.1\r\nHost: localhost\r\n";
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
        assertThat(texts("no")).isEmpty();
    }

    /** All of them take minutes (-Dhostile=all): as many as are asked for, evenly of all that can be bad. */
    private static List<HostileRequests.Odd> some(Collection<HostileRequests.Odd> all) {
        if ("all".equals(System.getProperty("hostile"))) {
            return List.copyOf(all);
        }
        List<HostileRequests.Odd> some = new ArrayList<>();
        some.addAll(evenly(all, LEAST + 10, odd -> !odd.legal() && !odd.isJunk()));
        some.addAll(evenly(all, FEW, HostileRequests.Odd::legal));
        some.addAll(evenly(all, FEW / 2, HostileRequests.Odd::isJunk));
        return some;
    }

    private static List<HostileRequests.Odd> evenly(
            Collection<HostileRequests.Odd> all, int most, Predicate<HostileRequests.Odd> which) {
        List<HostileRequests.Odd> these = all.stream().filter(which).toList();
        int count = Math.min(most, these.size());
        return IntStream.range(0, count)
                .mapToObj(i -> these.get((int) ((long) i * these.size() / count)))
                .toList();
    }

    /** What ends more comes later. */
    private static int ends(Route route) {
        return route.method().equals("DELETE") ? 2 : route.template().endsWith("/cancel") ? 1 : 0;
    }

    private static int count(Route route, Collection<HostileRequests.Odd> all) {
        Map<String, Long> counts = all.stream()
                .collect(Collectors.groupingBy(
                        odd -> odd.legal() ? "good" : odd.part(), TreeMap::new, Collectors.counting()));
        long bad = all.stream().filter(odd -> !odd.legal() && !odd.isJunk()).count();
        System.out.println(route + ": " + bad + " bad " + counts);
        if (HostileRequests.takesMore(route)) {
            assertThat(bad).as(route.toString()).isGreaterThanOrEqualTo(LEAST);
        }
        return (int) bad;
    }

    private void ask(Route route, HostileRequests.Odd odd, Queue<String> wrong) {
        try {
            RawClient.Raw answer = client.get().ask(odd.head(), odd.body());
            String flaw = flaw(odd, answer);
            if (flaw != null) {
                wrong.add(route + ": " + odd.part() + " " + odd.fields() + " " + odd + ": " + flaw + ": "
                        + answer.status() + " " + answer.body());
            }
        } catch (IOException | RuntimeException e) {
            if (odd.body().length <= Api.MOST_BYTES) { // else it is hung up on while it still talks
                wrong.add(route + ": " + odd.part() + " " + odd + ": " + e);
            }
            client.remove();
        }
    }

    private static @Nullable String flaw(HostileRequests.Odd odd, RawClient.Raw answer) {
        int status = answer.status();
        if (odd.legal()) {
            return status / 100 == 2 ? null : "it is good, and was refused";
        }
        if (status / 100 != 4) {
            return status < 400 ? "it is bad, and was taken" : "a mistake of the server";
        }
        if (!"application/problem+json".equals(answer.headers().get("content-type"))) {
            return "no problem document";
        }
        if (answer.body().contains("Exception") || answer.body().contains("\\tat ")) {
            return "it says too much";
        }
        JsonNode problem;
        try {
            problem = Json.MAPPER.readTree(answer.body());
        } catch (JacksonException e) {
            return "no document: " + e;
        }
        if (problem.path("status").asInt() != status
                || problem.path("title").asString().isBlank()
                || problem.path("detail").asString().isBlank()) {
            return "it says too little";
        }
        String named = problem.path("field").asString();
        boolean names = odd.fields().stream()
                .anyMatch(
                        field -> named.equals(field) || named.startsWith(field + ".") || named.startsWith(field + "["));
        return odd.fields().isEmpty() || names ? null : "it names \"" + named + "\"";
    }

    /** All that there is of the witness. */
    private List<String> state() throws Exception {
        String topic = "/v1/topics/witness";
        List<String> state = new ArrayList<>();
        for (String path : List.of(
                topic,
                topic + "/messages?from=0&limit=1000",
                topic + "/groups/g/lag",
                topic + "/groups/g/dead-letters",
                topic + "/groups/g/explain/" + witness.message())) {
            state.add(api.get(path).text().replaceAll("\"age\":\"[^\"]*\"", ""));
        }
        JsonNode group = api.get(topic + "/groups/g").json();
        state.add(group.path("status") + " " + group.path("pending") + " " + group.path("deadLetters"));
        List<String> groups = new ArrayList<>();
        api.get("/v1/groups?limit=1000").json().at("/items").forEach(its -> {
            if (its.path("topic").asString().equals("witness")) {
                groups.add(its.path("group").asString());
            }
        });
        state.add(groups.toString());
        state.add(texts("m").toString());
        api.get("/v1/keys").json().at("/items").forEach(key -> {
            if (key.path("name").asString().equals("witness")) {
                state.add(key.toString());
            }
        });
        return state;
    }

    /** Those of the witness that begin so. */
    private List<String> texts(String prefix) throws Exception {
        List<String> texts = new ArrayList<>();
        api.get("/v1/topics/witness/messages?from=0&limit=1000")
                .json()
                .at("/messages")
                .forEach(message -> texts.add(message.path("text").asString()));
        return texts.stream().filter(text -> text.startsWith(prefix)).toList();
    }

    private List<String> pulled() throws Exception {
        List<String> texts = new ArrayList<>();
        api.post("/v1/topics/witness/groups/g/pull", "{\"wait\": \"PT30S\"}")
                .json()
                .at("/messages")
                .forEach(message -> texts.add(message.path("text").asString()));
        return texts;
    }
}
