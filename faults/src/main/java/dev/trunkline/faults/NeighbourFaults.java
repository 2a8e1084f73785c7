package dev.trunkline.faults;

import dev.trunkline.Message;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.checker.Event;
import dev.trunkline.checker.Event.Outcome;
import dev.trunkline.checker.Event.Way;
import dev.trunkline.faults.PublisherMain.Habits;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Many topics of which one makes noise. The others are heard all the same. */
final class NeighbourFaults {

    static final String PREFIX = "street.";

    private static final String NOISY = PREFIX + "noisy";
    private static final String QUIET = PREFIX + "quiet";
    private static final int TOPICS = 1_000;
    private static final int BATCH = 200;
    private static final Duration BETWEEN_BATCHES = Duration.ofMillis(40);
    private static final int QUIET_MESSAGES = 100;
    private static final Duration HEARD_WITHIN = Duration.ofMillis(50);

    private final Trial trial;
    private final Trunkline trunkline;
    private final String prefix;
    /** When each message that is not noise was published. */
    private final Map<String, Long> published = new ConcurrentHashMap<>();

    private volatile boolean enough;

    private NeighbourFaults(Trial trial, Trunkline trunkline) {
        this.trial = trial;
        this.trunkline = trunkline;
        this.prefix = "street-" + trial.events() + ".";
    }

    static List<Fault> all() {
        // Others do little: what makes the quiet topic wait is to be the noise.
        return List.of(new Fault("F27", "flood one of 1,000 topics, most of it one key", NeighbourFaults::strike)
                .with(new Habits(1, 100, 0, 5))
                .sparingPublishers());
    }

    private static void strike(Trial trial) throws Exception {
        try (Trunkline trunkline = trial.open()) {
            if (trial.crowd().guests().isEmpty()) {
                create(trunkline);
                trial.crowd().addGuest("neighbour", NeighbourMain.class);
            }
            new NeighbourFaults(trial, trunkline).run();
        }
    }

    private static List<String> others() {
        return IntStream.range(0, TOPICS - 2).mapToObj(i -> PREFIX + i).toList();
    }

    private static void create(Trunkline trunkline) {
        Stream.concat(Stream.of(NOISY, QUIET), others().stream())
                .forEach(topic -> trunkline
                        .topics()
                        .create(TopicConfiguration.pubSub(topic).withPartitions(topic.equals(NOISY) ? 8 : 1)));
    }

    /** The noise goes on until all that was published beside it was handled. */
    private void run() throws Exception {
        whisper("calm-");
        Standing.await("the quiet topic is heard", () -> handled().size() == published.size());
        Thread noise = Thread.ofPlatform().start(this::makeNoise);
        try {
            CompletableFuture.allOf(others().stream()
                            .map(topic -> CompletableFuture.runAsync(() -> publish(topic, prefix + topic)))
                            .toArray(CompletableFuture<?>[]::new))
                    .join();
            whisper("quiet-");
            Standing.await("all others are heard", () -> handled().size() == published.size());
        } finally {
            enough = true;
            noise.join();
        }
        trial.took("95 of 100 of the quiet topic handled within", nearlyAll("quiet-"), HEARD_WITHIN);
        trial.took("before the noise within", nearlyAll("calm-"));
        trial.awaitMore(100);
    }

    private void whisper(String name) {
        for (int i = 0; i < QUIET_MESSAGES; i++) {
            publish(QUIET, prefix + name + i);
            LockSupport.parkNanos(20_000_000);
        }
    }

    private void publish(String topic, String value) {
        published.put(value, System.nanoTime());
        publish(topic, List.of(Message.of(topic, value).withKey("key")));
    }

    private void publish(String topic, List<Message> messages) {
        String call = trial.journal().publish(Way.PUBLISH, topic, Workload.contents(messages));
        trunkline.publisher().publishAll(messages);
        trial.journal().end(call, Outcome.OK);
    }

    /** Whether it is the message of the hot key that fails at first. */
    static boolean isStumblingBlock(Value value) {
        return value.text().endsWith("noise-3.1");
    }

    private void makeNoise() {
        for (int i = 0; !enough; i++) {
            String batch = prefix + "noise-" + i + ".";
            publish(
                    NOISY,
                    IntStream.range(0, BATCH)
                            .mapToObj(n -> Message.of(NOISY, batch + n).withKey(n % 10 == 0 ? "key-" + n : "hot"))
                            .toList());
            LockSupport.parkNanos(BETWEEN_BATCHES.toNanos());
        }
    }

    /** When those that are not noise were first handled. */
    private Map<String, Long> handled() {
        Map<String, Long> handled = new HashMap<>();
        try (Stream<Path> journals = Files.list(trial.journals())) {
            for (Path journal : journals.filter(
                            path -> path.getFileName().toString().startsWith("neighbour"))
                    .toList()) {
                try (Stream<String> lines = Files.lines(journal)) {
                    lines.filter(line -> line.contains("\tstart\t") && line.contains(prefix) && !line.contains(NOISY))
                            .map(Event::parse)
                            .forEach(event -> {
                                if (event instanceof Event.Start start) {
                                    handled.merge(start.value(), start.time(), Math::min);
                                }
                            });
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return handled;
    }

    /** From publish to handler, all but the slowest of twenty. */
    private long nearlyAll(String name) {
        Map<String, Long> handled = handled();
        List<Long> waits = published.keySet().stream()
                .filter(value -> value.startsWith(prefix + name))
                .map(value -> handled.getOrDefault(value, Long.MAX_VALUE) - published.getOrDefault(value, 0L))
                .sorted()
                .toList();
        return waits.get(waits.size() * 95 / 100);
    }
}
