package dev.trunkline.server.http;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** One who sends fuzzed requests, one after the other, and looks at the answers. What it sends follows from the seed, but for what the server calls things. */
final class FuzzedCaller {

    /** Of so many requests, one is hardly HTTP. */
    private static final int BYTES_EVERY = 4;

    private static final int REMEMBERED = 10;
    private static final int RENEW_EVERY = 300;
    private static final Duration SHORT = Duration.ofMillis(500);
    private static final Duration LONG = Duration.ofSeconds(60);

    private final FuzzedScene scene;
    private final FuzzedRequests requests;
    private final FuzzedOutcome outcome;
    private final Router router;
    private final Route any;
    private final Contract contract;
    private final RawClient client;
    private final Deque<String> lately = new ArrayDeque<>();
    private String now = "";

    FuzzedCaller(Api api, FuzzedScene scene, FuzzedRequests requests, FuzzedOutcome outcome) {
        this.scene = scene;
        this.requests = requests;
        this.outcome = outcome;
        this.router = new Router(api.routes());
        this.any = api.routes().getFirst();
        this.contract = new Contract(Json.MAPPER.valueToTree(OpenApi.of(api.routes())));
        this.client = new RawClient(api.url());
    }

    /** @param caller tells those of one run apart */
    void run(long seed, int caller, long count) {
        for (long i = 0; i < count && outcome.flaws().isEmpty(); i++) {
            now = "seed " + seed + ", caller " + caller + ", request " + i + ": ";
            try {
                if (i % RENEW_EVERY == 0) {
                    scene.renew();
                }
                RandomGenerator random = new SplittableRandom(Objects.hash(seed, caller) * 0x9E3779B9L + i);
                if (random.nextInt(BYTES_EVERY) == 0) {
                    sayBytes(random);
                } else {
                    Route route = requests.route(random);
                    ask(requests.next(route, text -> scene.fill(text, route), random));
                }
            } catch (IOException | RuntimeException e) {
                outcome.wrong(now + e);
            }
            outcome.requests.increment();
        }
    }

    private void ask(FuzzedRequests.Fuzzed request) throws IOException {
        if (!client.isQuiet()) {
            outcome.wrong(now + "more than one answer to one of " + lately);
        }
        lately.addLast(request.toString());
        if (lately.size() > REMEMBERED) {
            lately.removeFirst();
        }
        RawClient.Raw answer = null;
        try {
            answer = client.ask(request.head(), request.body(), isPatient(request) ? SHORT : LONG);
        } catch (SocketTimeoutException e) {
            if (!isPatient(request)) {
                outcome.wrong(now + "no answer to " + request);
            }
        } catch (IOException e) {
            outcome.wrong(now + e + " after " + request);
        }
        if (answer == null) {
            outcome.unanswered.increment();
            return;
        }
        Router.Found found = found(request);
        look(
                request.route(),
                found == null ? null : found.route(),
                answer,
                request.method().equals("HEAD"),
                request);
        if (answer.status() >= 400) {
            note(answer);
        } else if (found == null) {
            outcome.wrong(now + "taken, and nobody knows as what: " + answer + " to " + request);
        } else if (!request.method().equals("HEAD")) {
            taken(found, answer);
        }
    }

    /** Who waits for messages may do so for a minute. */
    private static boolean isPatient(FuzzedRequests.Fuzzed request) {
        return request.path().endsWith("pull");
    }

    private Router.@Nullable Found found(FuzzedRequests.Fuzzed request) {
        try {
            return router.find(request.method(), request.path());
        } catch (RuntimeException nowhere) {
            return null;
        }
    }

    private void look(Route meant, @Nullable Route route, RawClient.Raw answer, boolean bare, Object request) {
        int status = answer.status();
        outcome.answered(meant, status);
        String type = answer.headers().getOrDefault("content-type", "");
        String flaw = null;
        if (status >= 500 || (status >= 300 && status < 400)) {
            flaw = "a mistake of the server";
        } else if (status >= 400 && !bare) {
            flaw = contract.flaws(any, status, type, answer.body()).stream()
                    .findFirst()
                    .orElse(null);
            if (answer.body().contains("Exception") || answer.body().contains("\\tat ")) {
                flaw = "it says too much";
            }
        } else if (route != null
                && !bare
                && isWhole(answer)
                && !route.template().equals("/openapi.json")) {
            flaw = contract.flaws(route, status, type, answer.body()).stream()
                    .findFirst()
                    .orElse(null);
        }
        if (flaw != null) {
            outcome.wrong(now + flaw + ": " + status + " " + answer.body() + " to " + request + ", lately " + lately);
        }
    }

    private static boolean isWhole(RawClient.Raw answer) {
        return answer.status() == Route.NO_CONTENT || answer.headers().containsKey("content-length");
    }

    /** Notes what must be there from now on. */
    private void taken(Router.Found found, RawClient.Raw answer) throws IOException {
        switch (found.route().toString()) {
            case "POST /v1/topics" -> {
                String name = Json.MAPPER.readTree(answer.body()).path("name").asString();
                outcome.topic(name, 1);
                scene.drop(name);
            }
            case "DELETE /v1/topics/{topic}" ->
                outcome.topic(String.valueOf(found.path().get("topic")), -1);
            case "POST /v1/keys" -> outcome.keys.increment();
            case "PUT /v1/topics/{topic}/groups/{group}" ->
                outcome.groups.add(
                        found.path().get("topic") + "\n" + found.path().get("group"));
            case "POST /v1/topics/{topic}/messages" -> note(answer);
            default -> {}
        }
    }

    private static long published(RawClient.Raw answer) {
        if (!answer.body().startsWith("{")) {
            return 0;
        }
        JsonNode said = Json.MAPPER.readTree(answer.body());
        return said.path("published").asLong(0) - said.path("duplicates").asLong(0);
    }

    private void sayBytes(RandomGenerator random) throws IOException {
        FuzzedRequests.Fuzzed one = plain(random);
        byte[] bytes = FuzzedBytes.of(one, plain(random), random);
        String shown = FuzzedRequests.shown(new String(bytes, StandardCharsets.ISO_8859_1));
        RawClient.Heard heard;
        try {
            heard = client.say(bytes);
        } catch (SocketTimeoutException e) {
            outcome.wrong(now + "no answer to " + shown);
            return;
        }
        for (RawClient.Raw answer : heard.answers()) {
            look(one.route(), null, answer, false, shown);
            note(answer);
        }
        if (heard.answers().isEmpty()) {
            outcome.unanswered.increment();
        }
        if (!heard.whole()) {
            outcome.cutOff.increment();
            scene.taken().perhaps().add(shown.chars().filter(c -> c == '{').count());
        }
    }

    /** Messages that were taken; of lines, those before one that was refused, of which some may have been there before. */
    private void note(RawClient.Raw answer) {
        if (answer.status() == Route.CREATED) {
            scene.taken().sure().add(published(answer));
        } else if (answer.status() >= 400) {
            scene.taken().perhaps().add(published(answer));
        }
    }

    /** One that changes nothing but a topic that only grows. */
    private FuzzedRequests.Fuzzed plain(RandomGenerator random) {
        Route route = requests.route(random);
        while (FuzzedRequests.isRare(route)) {
            route = requests.route(random);
        }
        Route chosen = route;
        return requests.next(chosen, text -> scene.fillSafely(text, chosen), random);
    }
}
