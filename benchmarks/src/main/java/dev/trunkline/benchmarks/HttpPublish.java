package dev.trunkline.benchmarks;

import dev.trunkline.Message;
import java.util.Base64;
import java.util.List;
import java.util.stream.Collectors;

/** Batches of 100 over HTTP, against the library in the same run. */
final class HttpPublish implements Scenario {

    private static final int THREADS = 2;
    private static final int BATCH = 100;
    private static final String LIBRARY = "library";
    private static final String HTTP = "http";

    @Override
    public String name() {
        return "http-publish";
    }

    @Override
    public String summary() {
        return "batches of 100 messages from 2 threads over HTTP, against publishAll of the library";
    }

    @Override
    public List<Result> run(Workbench bench) throws Exception {
        try (Installation installation = bench.install("http", true);
                Web web = new Web(bench, installation);
                Crew library = installation.publishers(THREADS, BATCH);
                Crew http = Crew.of(THREADS, () -> () -> publish(web))) {
            Contest.Turns turns = new Contest(bench, name())
                    .with(LIBRARY, library::rate)
                    .with(HTTP, http::rate)
                    .run();
            return List.of(turns.compare(
                    name(),
                    "messages/s",
                    HTTP,
                    LIBRARY,
                    "publishAll of %d messages from %d threads".formatted(BATCH, THREADS),
                    Target.atLeast(0.5)));
        }
    }

    private static long publish(Web web) throws Exception {
        String body = Samples.keyed(BATCH).stream().map(HttpPublish::json).collect(Collectors.joining(",", "[", "]"));
        web.send("POST", "/v1/topics/" + Installation.TOPIC + "/messages", body);
        return BATCH;
    }

    private static String json(Message message) {
        return "{\"key\":\"" + message.key() + "\",\"base64\":\""
                + Base64.getEncoder().encodeToString((byte[]) message.payload()) + "\"}";
    }
}
