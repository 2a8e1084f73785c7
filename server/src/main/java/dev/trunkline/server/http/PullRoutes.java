package dev.trunkline.server.http;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.trunkline.Batch;
import dev.trunkline.ConsumerGroupException;
import dev.trunkline.Delivery;
import dev.trunkline.PullConsumer;
import dev.trunkline.PullOptions;
import dev.trunkline.Start;
import dev.trunkline.Trunkline;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Groups that are pulled from: batches under a lease. */
final class PullRoutes implements AutoCloseable {

    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final Duration LONGEST_LEASE = Duration.ofDays(1);
    private static final int BATCH_SIZE = 100;
    private static final int LARGEST_BATCH = 10_000;
    private static final int MOST_ATTEMPTS = 1_000;
    private static final Duration LONGEST_DELAY = Duration.ofDays(360);
    private static final int LONGEST_KEY = 1_024;

    static final String GROUP = "/v1/topics/{topic}/groups/{group}";
    private static final String BATCH = GROUP + "/batches/{token}";
    private static final Parameter MAX =
            Parameter.number("max", "messages of a batch at most", BATCH_SIZE, 1, LARGEST_BATCH);
    private static final Parameter LEASE_OF =
            Parameter.text("lease", "for how long nobody else gets them, such as PT30S, which is the default");
    private static final Parameter OPEN = Parameter.number(
            "batches", "how many batches may be open at once; the next comes when one is settled", 1, 1, 100);

    private final Duration longestWait;
    private final BooleanSupplier stopping;
    private final Consumers consumers;
    private final BatchStream.Told told = new BatchStream.Told();

    /**
     * Routes of an installation.
     *
     * @param longestWait how long a pull may wait for messages
     * @param stopping whether streams are to end
     */
    PullRoutes(Trunkline trunkline, Duration longestWait, BooleanSupplier stopping) {
        this.consumers = new Consumers(trunkline);
        this.longestWait = longestWait;
        this.stopping = stopping;
    }

    /** Who waits for messages gets none. */
    @Override
    public void close() {
        consumers.close();
    }

    List<Route> all() {
        return List.of(
                Route.of(
                                "PUT",
                                GROUP,
                                Verb.CONSUME,
                                "makes a group that is pulled from, unless there is one",
                                this::make)
                        .takes(NewGroup.class)
                        .answersNothing(),
                Route.of(
                                "POST",
                                GROUP + "/pull",
                                Verb.CONSUME,
                                "takes a batch of messages, and waits for it; none: 204",
                                this::pull)
                        .takes(Pull.class)
                        .answers(Route.OK, PulledBatch.class)
                        .answersNothing(),
                Route.of(
                                "GET",
                                GROUP + "/consume",
                                Verb.CONSUME,
                                "takes batches as they come: an event for each",
                                this::consume)
                        .query(MAX, LEASE_OF, OPEN)
                        .answers(Route.OK, Events.TYPE, PulledBatch.class),
                settling("ack", "says that messages of a batch are done", Some.class, this::ack),
                settling(
                        "nack",
                        "hands messages of a batch back; they come again, or are given up",
                        Failed.class,
                        this::nack),
                settling(
                        "release",
                        "gives messages of a batch back as if they had not been taken",
                        Some.class,
                        this::release),
                settling(
                        "reject",
                        "gives messages of a batch up: they become dead letters",
                        Rejected.class,
                        this::reject),
                Route.of(
                                "POST",
                                BATCH + "/extend",
                                Verb.CONSUME,
                                "prolongs the lease of a batch, from now on",
                                exchange -> naming(exchange, this::extend))
                        .takes(Extension.class)
                        .answers(Route.OK, Extended.class));
    }

    private Route settling(String what, String says, Class<?> body, Route.Action action) {
        return Route.of("POST", BATCH + "/" + what, Verb.CONSUME, says, exchange -> {
                    naming(exchange, action);
                    told.settled(exchange.path("token"));
                })
                .takes(body)
                .answers(Route.OK, Left.class);
    }

    /** What is refused of a batch is refused for its token, or for the offsets that were named. */
    private static void naming(Exchange exchange, Route.Action action) throws Exception {
        try {
            action.on(exchange);
        } catch (ConsumerGroupException e) {
            String why = String.valueOf(e.getMessage());
            throw new Problem(409, why).with("field", why.startsWith("offset ") ? "offsets" : "token");
        }
    }

    /** @param left offsets of the batch that are neither done nor handed back */
    record Left(List<Long> left) {}

    /** How a group is made. It counts when it is made for the first time. */
    record NewGroup(
            @JsonPropertyDescription(
                    "beginning, now, offset:N, message:ID, or a time; if nothing is said, the beginning for a queue, else what the installation has chosen")
            @Nullable
            String start,

            @JsonPropertyDescription("how often a message is tried") @Nullable
            Integer attempts,

            @JsonPropertyDescription("whether a dead letter holds its key up") @Nullable
            Boolean stopKey,

            @JsonPropertyDescription("the keys that it wants; all, if nothing is said") @Nullable
            Set<String> keys) {}

    private void make(Exchange exchange) throws Exception {
        NewGroup wish = exchange.body(NewGroup.class);
        PullOptions options = PullOptions.from(wish.start == null ? Start.byDefault() : place("start", wish.start));
        if (wish.attempts != null) {
            Problem.require(
                    wish.attempts >= 1 && wish.attempts <= MOST_ATTEMPTS,
                    "attempts",
                    "a message is tried 1 to " + MOST_ATTEMPTS + " times, not " + wish.attempts);
            options = options.withAttempts(wish.attempts);
        }
        if (wish.stopKey != null) {
            options = options.withStopKey(wish.stopKey);
        }
        if (wish.keys != null) {
            if (wish.keys.isEmpty() || wish.keys.contains(null)) {
                throw Problem.of("keys", "a group that wants some keys names them, none of them null");
            }
            wish.keys.forEach(key -> Said.text("keys", key, LONGEST_KEY));
            options = options.withKeys(wish.keys);
        }
        Said.name("group", exchange.path("group"));
        try {
            consumers.make(Place.of(exchange), options);
        } catch (ConsumerGroupException e) {
            throw refused(e, wish.keys == null ? "start" : "keys");
        }
        exchange.answer(Route.NO_CONTENT, null);
    }

    /** What is wrong with the group says so, or with its topic; else it is what was wanted of it. */
    static Problem refused(ConsumerGroupException e, String wanted) {
        String why = String.valueOf(e.getMessage());
        boolean group = why.startsWith("group ") || why.startsWith("topic ");
        return new Problem(409, why).with("field", group ? "group" : wanted);
    }

    /** A place in a topic, as it is said in a field. */
    static Start place(String field, String text) {
        try {
            return Start.parse(text);
        } catch (IllegalArgumentException e) {
            throw Problem.of(field, String.valueOf(e.getMessage()));
        }
    }

    /**
     * What is to be pulled.
     *
     * @param max messages at most
     * @param lease for how long nobody else gets them
     * @param patience how long to wait for messages, if there are none
     */
    record Pull(
            @Nullable Integer max,
            @Nullable Duration lease,
            @JsonProperty("wait") @Nullable Duration patience) {}

    /** A batch as it is told. */
    record PulledBatch(String token, long epoch, Instant expiresAt, List<Messages.ReadMessage> messages) {

        static PulledBatch of(Batch<byte[]> batch) {
            return new PulledBatch(
                    batch.token(),
                    batch.deliveries().getFirst().epoch(),
                    batch.expiresAt(),
                    batch.deliveries().stream().map(PulledBatch::message).toList());
        }

        private static Messages.ReadMessage message(Delivery<byte[]> delivery) {
            return Messages.ReadMessage.of(delivery.message(), delivery.attempt());
        }
    }

    private void pull(Exchange exchange) throws Exception {
        Pull wish = exchange.body(Pull.class);
        int max = wish.max == null ? BATCH_SIZE : wish.max;
        Duration wait = wish.patience == null ? Duration.ZERO : wish.patience;
        Problem.require(
                max >= 1 && max <= LARGEST_BATCH, "max", "a batch has 1 to " + LARGEST_BATCH + " messages, not " + max);
        Problem.require(
                !wait.isNegative() && wait.compareTo(longestWait) <= 0,
                "wait",
                "a pull waits for up to " + longestWait + ", not " + wait);
        PullConsumer<byte[]> consumer = consumer(exchange);
        Optional<Batch<byte[]>> batch = pop(exchange, consumer, max, lease(wish.lease), wait);
        if (batch.isPresent()) {
            try {
                exchange.answer(Route.OK, PulledBatch.of(batch.get()));
            } catch (IOException | RuntimeException e) { // nobody has got it
                consumer.release(batch.get().token());
                throw e;
            }
        } else {
            exchange.answer(Route.NO_CONTENT, null);
        }
    }

    /** A key may be revoked while its caller waits: then he does not get what he waited for, and somebody else does. */
    static Optional<Batch<byte[]>> pop(
            Exchange exchange, PullConsumer<byte[]> consumer, int max, Duration lease, Duration wait) throws Exception {
        // What there is may be much; what is waited for is little, and comes when nobody knows.
        exchange.share().take(Math.min(Room.BATCH, Room.TOLD * exchange.mostBytes() * max));
        Optional<Batch<byte[]>> batch = consumer.pop(max, lease, Duration.ZERO);
        if (batch.isEmpty() && !wait.isZero()) {
            exchange.share().take(0);
            batch = consumer.pop(max, lease, wait);
        }
        if (batch.isPresent()) {
            try {
                exchange.share().take(Room.TOLD * bytes(batch.get()));
                exchange.requireStillAllowed();
            } catch (RuntimeException e) { // nobody gets it
                consumer.release(batch.get().token());
                throw e;
            }
        }
        return batch;
    }

    private static long bytes(Batch<byte[]> batch) {
        return batch.deliveries().stream()
                .mapToLong(its -> its.message().payload().length)
                .sum();
    }

    private void consume(Exchange exchange) throws Exception {
        BatchStream.Wish wish = new BatchStream.Wish(
                (int) exchange.number(MAX),
                lease(exchange.text(LEASE_OF).map(PullRoutes::duration).orElse(null)),
                (int) exchange.number(OPEN));
        new BatchStream(consumer(exchange), wish, told, stopping).tell(exchange);
    }

    private static Duration duration(String text) {
        try {
            return Duration.parse(text);
        } catch (DateTimeParseException e) {
            throw Problem.of("lease", "\"" + text + "\" is no duration, such as PT30S");
        }
    }

    private static Duration lease(@Nullable Duration wish) {
        Duration lease = wish == null ? LEASE : wish;
        Problem.require(
                lease.isPositive() && lease.compareTo(LONGEST_LEASE) <= 0,
                "lease",
                "a lease is more than zero, and " + LONGEST_LEASE + " at most, not " + lease);
        return lease;
    }

    /**
     * Messages of a batch.
     *
     * @param offsets of these; null: of all that is left
     */
    record Some(@Nullable List<Long> offsets) {}

    /**
     * Messages of a batch that failed.
     *
     * @param offsets of these; null: of all that is left
     * @param delay until they come again
     * @param error why
     */
    record Failed(
            @Nullable List<Long> offsets,
            @Nullable Duration delay,
            @Nullable String error) {}

    /**
     * Messages of a batch that are given up.
     *
     * @param error why
     */
    record Rejected(@Nullable List<Long> offsets, @Nullable String error) {}

    private static List<Long> named(@Nullable List<Long> offsets) {
        if (offsets == null || offsets.contains(null)) {
            throw Problem.of("offsets", "name the offsets");
        }
        return offsets;
    }

    private void ack(Exchange exchange) throws Exception {
        Some settlement = exchange.body(Some.class);
        PullConsumer<byte[]> consumer = consumer(exchange);
        List<Long> left = List.of();
        if (settlement.offsets == null) {
            consumer.ack(exchange.path("token"));
        } else {
            left = consumer.ack(exchange.path("token"), named(settlement.offsets));
        }
        exchange.answer(Route.OK, new Left(left));
    }

    private void nack(Exchange exchange) throws Exception {
        Failed settlement = exchange.body(Failed.class);
        Duration delay = settlement.delay == null ? Duration.ZERO : settlement.delay;
        Problem.require(
                !delay.isNegative() && delay.compareTo(LONGEST_DELAY) <= 0,
                "delay",
                "a delay is up to " + LONGEST_DELAY + ", not " + delay);
        PullConsumer<byte[]> consumer = consumer(exchange);
        String error = settlement.error == null ? "handed back" : settlement.error;
        List<Long> left = List.of();
        if (settlement.offsets == null) {
            consumer.nack(exchange.path("token"), delay, error);
        } else {
            left = consumer.nack(exchange.path("token"), named(settlement.offsets), delay, error);
        }
        exchange.answer(Route.OK, new Left(left));
    }

    private void release(Exchange exchange) throws Exception {
        Some settlement = exchange.body(Some.class);
        List<Long> left = List.of();
        if (settlement.offsets == null) {
            consumer(exchange).release(exchange.path("token"));
        } else {
            left = consumer(exchange).release(exchange.path("token"), named(settlement.offsets));
        }
        exchange.answer(Route.OK, new Left(left));
    }

    private void reject(Exchange exchange) throws Exception {
        Rejected settlement = exchange.body(Rejected.class);
        List<Long> left = consumer(exchange)
                .reject(
                        exchange.path("token"),
                        named(settlement.offsets),
                        settlement.error == null ? "rejected" : settlement.error);
        exchange.answer(Route.OK, new Left(left));
    }

    /** A new lease. */
    record Extension(@Nullable Duration lease) {}

    record Extended(Instant expiresAt) {}

    private void extend(Exchange exchange) throws Exception {
        Extension extension = exchange.body(Extension.class);
        String token = exchange.path("token");
        Duration lease = lease(extension.lease);
        Instant until = consumer(exchange).extend(token, lease);
        told.extended(token, lease);
        exchange.answer(Route.OK, new Extended(until));
    }

    private PullConsumer<byte[]> consumer(Exchange exchange) {
        return consumers.of(Place.of(exchange));
    }
}
