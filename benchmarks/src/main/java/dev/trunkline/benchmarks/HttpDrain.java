package dev.trunkline.benchmarks;

import dev.trunkline.Batch;
import dev.trunkline.PullConsumer;
import dev.trunkline.PullOptions;
import dev.trunkline.SubscriptionOptions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** A new group works off a backlog by pulling and acknowledging over HTTP, against the library: by handlers, and by pulling. */
final class HttpDrain implements Scenario {

    private static final int MOST_REPETITIONS = 3;
    private static final int THREADS = 4;
    private static final int BATCH = 5_000;
    private static final Duration LEASE = Duration.ofMinutes(1);
    private static final String HANDLERS = "handlers";
    private static final String PULL = "pull";
    private static final String HTTP = "http";
    private static final JsonMapper JSON = JsonMapper.builder()
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .build();

    /** What a caller wants of a batch. */
    private record Pulled(String token, List<PulledMessage> messages) {}

    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record PulledMessage(long offset, @Nullable String key, byte[] base64) {}

    @Override
    public String name() {
        return "http-drain";
    }

    @Override
    public String summary() {
        return "a backlog is pulled and acknowledged over HTTP, against a group of the library, and against pulling with it";
    }

    @Override
    public List<Result> run(Workbench bench) throws Exception {
        int messages = bench.effort().amounts().consumeMessages();
        try (Installation installation = bench.install("http", true);
                Web web = new Web(bench, installation)) {
            bench.progress("%s: publishing %d messages".formatted(name(), messages));
            installation.publish(messages);
            AtomicLong turn = new AtomicLong();
            Contest.Turns turns = new Contest(bench.atMost(MOST_REPETITIONS), name())
                    .with(HANDLERS, seconds -> handle(installation, messages, "h" + turn.incrementAndGet()))
                    .with(PULL, seconds -> pull(installation, messages, "p" + turn.incrementAndGet()))
                    .with(HTTP, seconds -> pull(web, messages, "w" + turn.incrementAndGet()))
                    .run();
            return List.of(
                    turns.compare(
                                    name(),
                                    "messages/s",
                                    HTTP,
                                    HANDLERS,
                                    "a group with one handler that counts",
                                    Target.atLeast(0.3))
                            .with("messages", messages),
                    turns.compare(
                                    name() + "-pull",
                                    "messages/s",
                                    HTTP,
                                    PULL,
                                    "the library pulls and acknowledges batches of %d from %d threads"
                                            .formatted(BATCH, THREADS),
                                    Target.atLeast(0.3))
                            .with("messages", messages));
        }
    }

    private static double handle(Installation installation, int messages, String name) throws InterruptedException {
        try (CountedGroup group = new CountedGroup(installation.trunkline(), name)) {
            long began = System.nanoTime();
            group.start(SubscriptionOptions.fromBeginning()).await(messages);
            long nanos = System.nanoTime() - began;
            group.closeAt(messages);
            return messages * 1e9 / nanos;
        }
    }

    private static double pull(Installation installation, int messages, String name) throws Exception {
        try (PullConsumer<byte[]> consumer =
                installation.trunkline().pull(name, Installation.TOPIC, byte[].class, PullOptions.fromBeginning())) {
            return drain(messages, () -> {
                Optional<Batch<byte[]>> batch = consumer.pop(BATCH, LEASE);
                batch.ifPresent(its -> consumer.ack(its.token()));
                return batch.map(its -> its.deliveries().size()).orElse(0);
            });
        }
    }

    private static double pull(Web web, int messages, String name) throws Exception {
        String group = "/v1/topics/" + Installation.TOPIC + "/groups/" + name;
        web.send("PUT", group, "{\"start\": \"beginning\"}");
        return drain(messages, () -> {
            byte[] answer = web.send("POST", group + "/pull", "{\"max\": " + BATCH + ", \"lease\": \"" + LEASE + "\"}");
            if (answer.length == 0) {
                return 0;
            }
            Pulled batch = JSON.readValue(answer, Pulled.class);
            web.send("POST", group + "/batches/" + batch.token + "/ack", "{}");
            return batch.messages.size();
        });
    }

    private static double drain(int messages, Crew.Worker worker) throws Exception {
        long began = System.nanoTime();
        try (Crew crew = Crew.of(THREADS, () -> worker)) {
            long taken = crew.start(units -> units < messages).join();
            long nanos = System.nanoTime() - began;
            Tally.require("pulled", messages, taken);
            return messages * 1e9 / nanos;
        }
    }
}
