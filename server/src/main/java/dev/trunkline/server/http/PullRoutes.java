package dev.trunkline.server.http;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.trunkline.Batch;
import dev.trunkline.Delivery;
import dev.trunkline.PullConsumer;
import dev.trunkline.PullOptions;
import dev.trunkline.Start;
import dev.trunkline.Trunkline;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Groups that are pulled from: batches under a lease. The one group of a queue is called {@code shared} here. */
final class PullRoutes {

    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final String GROUP = "/v1/topics/{topic}/groups/{group}";
    private static final String BATCH = GROUP + "/batches/{token}";

    private final Trunkline trunkline;
    private final Duration longestWait;
    private final Map<Place, PullConsumer<byte[]>> consumers = new ConcurrentHashMap<>();

    /** @param longestWait how long a pull may wait for messages */
    PullRoutes(Trunkline trunkline, Duration longestWait) {
        this.trunkline = trunkline;
        this.longestWait = longestWait;
    }

    List<Route> all() {
        return List.of(
                Route.of("PUT", GROUP, Verb.CONSUME, this::make),
                Route.of("POST", GROUP + "/pull", Verb.CONSUME, this::pull),
                Route.of("POST", BATCH + "/ack", Verb.CONSUME, this::ack),
                Route.of("POST", BATCH + "/nack", Verb.CONSUME, this::nack),
                Route.of("POST", BATCH + "/reject", Verb.CONSUME, this::reject),
                Route.of("POST", BATCH + "/extend", Verb.CONSUME, this::extend));
    }

    /** How a group is made. It counts when it is made for the first time. */
    record Wish(
            @Nullable String start,
            @Nullable Integer attempts,
            @Nullable Boolean stopKey,
            @Nullable Set<String> keys) {}

    private void make(Exchange exchange) throws Exception {
        Wish wish = exchange.body(Wish.class);
        PullOptions options = PullOptions.from(wish.start == null ? Start.byDefault() : Start.parse(wish.start));
        if (wish.attempts != null) {
            options = options.withAttempts(wish.attempts);
        }
        if (wish.stopKey != null) {
            options = options.withStopKey(wish.stopKey);
        }
        if (wish.keys != null) {
            options = options.withKeys(wish.keys);
        }
        Place place = Place.of(exchange, trunkline);
        consumers.put(place, trunkline.pull(place.group(), place.topic(), byte[].class, options));
        exchange.answer(204, null);
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
    record Told(String token, long epoch, Instant expiresAt, List<Messages.Told> messages) {

        static Told of(Batch<byte[]> batch) {
            return new Told(
                    batch.token(),
                    batch.deliveries().getFirst().epoch(),
                    batch.expiresAt(),
                    batch.deliveries().stream().map(Told::message).toList());
        }

        private static Messages.Told message(Delivery<byte[]> delivery) {
            return Messages.Told.of(delivery.message(), delivery.attempt());
        }
    }

    private void pull(Exchange exchange) throws Exception {
        Pull wish = exchange.body(Pull.class);
        Duration wait = wish.patience == null ? Duration.ZERO : wish.patience;
        if (wait.isNegative() || wait.compareTo(longestWait) > 0) {
            throw Problem.of("wait", "a pull waits for up to " + longestWait + ", not " + wait);
        }
        Optional<Batch<byte[]>> batch = consumer(exchange)
                .pop(wish.max == null ? 100 : wish.max, wish.lease == null ? LEASE : wish.lease, wait);
        if (batch.isPresent()) {
            exchange.answer(200, Told.of(batch.get()));
        } else {
            exchange.answer(204, null);
        }
    }

    /**
     * What becomes of a batch.
     *
     * @param offsets of these; null: of all that is left
     * @param delay until they come again
     * @param error why
     */
    record Settlement(
            @Nullable List<Long> offsets,
            @Nullable Duration delay,
            @Nullable String error) {

        List<Long> someOffsets() {
            if (offsets == null || offsets.contains(null)) {
                throw Problem.of("offsets", "name the offsets");
            }
            return offsets;
        }
    }

    private void ack(Exchange exchange) throws Exception {
        Settlement settlement = exchange.body(Settlement.class);
        PullConsumer<byte[]> consumer = consumer(exchange);
        List<Long> left = List.of();
        if (settlement.offsets == null) {
            consumer.ack(exchange.path("token"));
        } else {
            left = consumer.ack(exchange.path("token"), settlement.someOffsets());
        }
        exchange.answer(200, Map.of("left", left));
    }

    private void nack(Exchange exchange) throws Exception {
        Settlement settlement = exchange.body(Settlement.class);
        PullConsumer<byte[]> consumer = consumer(exchange);
        Duration delay = settlement.delay == null ? Duration.ZERO : settlement.delay;
        String error = settlement.error == null ? "handed back" : settlement.error;
        List<Long> left = List.of();
        if (settlement.offsets == null) {
            consumer.nack(exchange.path("token"), delay, error);
        } else {
            left = consumer.nack(exchange.path("token"), settlement.someOffsets(), delay, error);
        }
        exchange.answer(200, Map.of("left", left));
    }

    private void reject(Exchange exchange) throws Exception {
        Settlement settlement = exchange.body(Settlement.class);
        List<Long> left = consumer(exchange)
                .reject(
                        exchange.path("token"),
                        settlement.someOffsets(),
                        settlement.error == null ? "rejected" : settlement.error);
        exchange.answer(200, Map.of("left", left));
    }

    /** A new lease. */
    record Extension(@Nullable Duration lease) {}

    private void extend(Exchange exchange) throws Exception {
        Extension extension = exchange.body(Extension.class);
        Instant until =
                consumer(exchange).extend(exchange.path("token"), extension.lease == null ? LEASE : extension.lease);
        exchange.answer(200, Map.of("expiresAt", until));
    }

    private PullConsumer<byte[]> consumer(Exchange exchange) {
        Place place = Place.of(exchange, trunkline);
        return consumers.computeIfAbsent(place, its -> {
            if (trunkline.admin().find(its.group(), its.topic()).isEmpty()) {
                throw its.isNot().with("hint", "make it first: PUT " + GROUP);
            }
            return trunkline.pull(its.group(), its.topic(), byte[].class, PullOptions.fromNow());
        });
    }
}
