package dev.trunkline.faults;

import dev.trunkline.Batch;
import dev.trunkline.ConsumerGroup;
import dev.trunkline.ConsumerGroupException;
import dev.trunkline.InvalidMessageException;
import dev.trunkline.InvalidTopicException;
import dev.trunkline.LogMessage;
import dev.trunkline.Message;
import dev.trunkline.PullConsumer;
import dev.trunkline.PullOptions;
import dev.trunkline.Start;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.TopicPattern;
import dev.trunkline.Trunkline;
import dev.trunkline.UnknownTopicException;
import dev.trunkline.rig.HostileInputs;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.random.RandomGenerator;

/**
 * What callers say that nobody expects, on topics of their own beside the usual work. Each input comes back as it was, or is refused by an
 * exception that is made for that.
 */
final class InputFaults {

    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final int AT_ONCE = 20;
    private static final int MANY = 10_000;
    private static final int OVER_THE_LIMIT = 100 * 1024 * 1024;
    private static final Set<Class<?>> REFUSALS = Set.of(
            ConsumerGroupException.class,
            InvalidMessageException.class,
            InvalidTopicException.class,
            UnknownTopicException.class,
            IllegalArgumentException.class);

    private InputFaults() {}

    static List<Fault> all() {
        return List.of(
                new Fault(
                                "F26",
                                "publish payloads, batches and headers that are too large",
                                trial -> on(trial, InputFaults::sizes))
                        .counting(Tally.INPUTS)
                        .sparingPublishers(),
                new Fault("F28", "publish bytes and texts that are broken", trial -> on(trial, InputFaults::contents))
                        .counting(Tally.INPUTS)
                        .sparingPublishers(),
                new Fault("F29", "use names from hell", trial -> on(trial, InputFaults::names))
                        .counting(Tally.INPUTS)
                        .sparingPublishers());
    }

    /** What is done with a topic of its own. */
    @FunctionalInterface
    private interface Assault {
        void on(Trial trial, Trunkline trunkline, String topic) throws Exception;
    }

    private static void on(Trial trial, Assault assault) throws Exception {
        try (Trunkline trunkline = trial.open()) {
            String topic = "hostile " + trial.random().nextLong();
            trunkline.topics().create(TopicConfiguration.pubSub(topic).withPartitions(1));
            assault.on(trial, trunkline, topic);
            trunkline.topics().drop(topic);
        }
        trial.awaitMore(100);
    }

    private static void sizes(Trial trial, Trunkline trunkline, String topic) throws Exception {
        Exchange exchange = new Exchange(trial, trunkline, topic);
        for (int size : new int[] {0, 1, 1 << 20, (1 << 20) + 1, OVER_THE_LIMIT}) {
            exchange.send("a payload of " + size + " bytes", size <= 1 << 20, Message.of(topic, new byte[size]));
        }
        for (Map<String, String> headers : HostileInputs.headers()) {
            int bytes = headers.entrySet().stream()
                    .mapToInt(header -> Exchange.bytes(header.getKey()) + Exchange.bytes(header.getValue()))
                    .sum();
            exchange.send(
                    headers.size() + " headers of " + bytes + " bytes",
                    headers.size() <= 1_000 && bytes <= 65_536,
                    Message.of(topic, "x").withHeaders(headers));
        }
        long before = trunkline.log().end(topic, 0);
        trunkline
                .publisher()
                .publishAll(Collections.nCopies(
                        MANY, Message.of(topic, new byte[100]).withKey("k")));
        Standing.await(
                "a batch of " + MANY + " is in the log", () -> trunkline.log().end(topic, 0) == before + MANY);
    }

    private static void contents(Trial trial, Trunkline trunkline, String topic) throws Exception {
        Exchange exchange = new Exchange(trial, trunkline, topic);
        for (byte[] payload : some(trial.random(), HostileInputs.payloads())) {
            exchange.send("a payload of " + payload.length + " bytes", true, Message.of(topic, payload));
        }
        for (String text : some(trial.random(), HostileInputs.names())) {
            String shown = HostileInputs.show(text);
            boolean stored = Exchange.isText(text) && Exchange.bytes(text) <= 1024;
            Message message = Message.of(topic, "x");
            exchange.send("the key " + shown, stored, message.withKey(text));
            exchange.send("the header " + shown, Exchange.isText(text), message.withHeader(text, text));
            exchange.send("the correlation id " + shown, stored, message.withCorrelationId(text));
        }
    }

    private static void names(Trial trial, Trunkline trunkline, String own) throws Exception {
        for (String name : some(trial.random(), HostileInputs.names())) {
            if (Workload.TOPICS.contains(name)) {
                continue; // the crowd has that one
            }
            boolean isName = Exchange.isText(name)
                    && !name.isEmpty()
                    && name.codePointCount(0, name.length()) <= 255
                    && name.codePoints().noneMatch(Character::isISOControl);
            int topics = trunkline.topics().list().size();
            expect(trial, "the topic " + HostileInputs.show(name), isName, () -> {
                TopicConfiguration topic =
                        TopicConfiguration.pubSub(name).withPartitions(1).withTask(name);
                trunkline.topics().create(topic);
                require(trunkline.topics().find(name).equals(Optional.of(topic)), "it is another topic");
                new Exchange(trial, trunkline, name).send("a message of it", true, Message.of(name, name));
                trunkline.topics().drop(name);
            });
            boolean isGroup = isName && !name.equals(ConsumerGroup.SHARED);
            expect(trial, "the group " + HostileInputs.show(name), isGroup, () -> {
                PullConsumer<byte[]> group = trunkline.pull(name, own, byte[].class, PullOptions.fromNow());
                require(group.pop(1, MINUTE).isEmpty(), "it is another group");
                require(trunkline.admin().find(name, own).isPresent(), "it is not found");
                trunkline.admin().cancel(name, own);
            });
            expect(
                    trial,
                    "no topic " + HostileInputs.show(name),
                    false,
                    () -> trunkline.topics().drop(name));
            expect(
                    trial,
                    "no group " + HostileInputs.show(name),
                    false,
                    () -> trunkline.admin().seek("nobody", name, Start.now()));
            expect(
                    trial,
                    "no wildcard " + HostileInputs.show(name),
                    false,
                    () -> trunkline.admin().cancelWildcard(name, TopicPattern.task("none")));
            require(
                    trunkline.topics().list().size() == topics,
                    "the catalogue has changed after " + HostileInputs.show(name));
        }
    }

    private static <T> List<T> some(RandomGenerator random, List<T> all) {
        List<T> some = new ArrayList<>(all);
        while (some.size() > AT_ONCE) {
            some.remove(/* index */ random.nextInt(some.size()));
        }
        return some;
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalStateException(otherwise);
        }
    }

    /** Does something that must be done, or must be refused. */
    private static void expect(Trial trial, String what, boolean taken, Trial.Action action) throws Exception {
        trial.did();
        try {
            action.run();
        } catch (RuntimeException e) {
            if (taken || !isRefusal(e)) {
                throw new IllegalStateException(what + (taken ? " was not taken" : " was not refused properly"), e);
            }
            return;
        }
        require(taken, what + " was taken");
    }

    private static boolean isRefusal(RuntimeException e) {
        return REFUSALS.stream().anyMatch(refusal -> refusal.isInstance(e))
                && e.getMessage() != null
                && !e.getMessage().isBlank();
    }

    /** Publishes by any way and looks at what came of it, in the log and in the hands of a group. */
    private static final class Exchange {

        private final Trial trial;
        private final Trunkline trunkline;
        private final String topic;
        private final PullConsumer<byte[]> reader;

        Exchange(Trial trial, Trunkline trunkline, String topic) {
            this.trial = trial;
            this.trunkline = trunkline;
            this.topic = topic;
            this.reader = trunkline.pull("reader", topic, byte[].class, PullOptions.fromNow());
        }

        static int bytes(String text) {
            return text.getBytes(StandardCharsets.UTF_8).length;
        }

        static boolean isText(String text) {
            return text.indexOf('\0') < 0 && StandardCharsets.UTF_8.newEncoder().canEncode(text);
        }

        void send(String what, boolean taken, Message message) throws Exception {
            expect(trial, what, taken, () -> {
                long id = publish(message);
                LogMessage found = popped();
                require(found.id() == id, what + ": another message came, " + found);
                byte[] payload = message.payload() instanceof byte[] bytes
                        ? bytes
                        : message.payload().toString().getBytes(StandardCharsets.UTF_8);
                require(
                        Arrays.equals(found.payload(), payload)
                                && Objects.equals(found.key(), message.key())
                                && found.headers().equals(message.headers())
                                && Objects.equals(found.correlationId(), message.correlationId()),
                        what + " has changed");
            });
        }

        private long publish(Message message) throws SQLException {
            if (trial.random().nextBoolean()) {
                return trunkline.publisher().publish(message).id();
            }
            try (Connection connection = trial.connect()) {
                return trunkline.publisher().publish(connection, message).id();
            }
        }

        private LogMessage popped() throws InterruptedException {
            Batch<byte[]> batch = reader.pop(1, MINUTE, MINUTE)
                    .orElseThrow(() -> new IllegalStateException("nothing came of " + topic));
            reader.ack(batch.token());
            return batch.deliveries().getFirst().message();
        }
    }
}
