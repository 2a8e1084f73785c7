package dev.trunkline;

import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A message to be published. Immutable; each {@code with} method returns a changed copy.
 *
 * {@snippet :
 * publisher.publish(Message.of("orders.events", new OrderPlaced(42)).withKey("customer-7"));
 * }
 *
 * <p>The payload may be a {@code byte[]} (published as it is), a {@code String} (published as UTF-8 text), or anything
 * that the {@link Codec} of the {@link Trunkline} can encode.
 */
public final class Message {

    private final String topic;
    private final Object payload;
    private final @Nullable String key;
    private final Map<String, String> headers;
    private final @Nullable String contentType;
    private final @Nullable String correlationId;
    private final Priority priority;
    private final @Nullable Instant deliverAt;
    private final @Nullable Duration delay;
    private final @Nullable String idempotencyKey;

    private Message(
            String topic,
            Object payload,
            @Nullable String key,
            Map<String, String> headers,
            @Nullable String contentType,
            @Nullable String correlationId,
            Priority priority,
            @Nullable Instant deliverAt,
            @Nullable Duration delay,
            @Nullable String idempotencyKey) {
        this.topic = Objects.requireNonNull(topic, "topic");
        this.payload = Objects.requireNonNull(payload, "payload");
        this.key = key;
        this.headers = headers;
        this.contentType = contentType;
        this.correlationId = correlationId;
        this.priority = Objects.requireNonNull(priority, "priority");
        this.deliverAt = deliverAt;
        this.delay = delay;
        this.idempotencyKey = idempotencyKey;
    }

    public static Message of(String topic, Object payload) {
        return new Message(topic, payload, null, Map.of(), null, null, Priority.NORMAL, null, null, null);
    }

    /** Messages of one key lie in one partition, in order. Without a key they are spread. */
    public Message withKey(String newKey) {
        return new Message(
                topic,
                payload,
                newKey,
                headers,
                contentType,
                correlationId,
                priority,
                deliverAt,
                delay,
                idempotencyKey);
    }

    /** Adds a header, or replaces the one of that name. */
    public Message withHeader(String name, String value) {
        Map<String, String> more = new LinkedHashMap<>(headers);
        more.put(name, value);
        return withHeaders(more);
    }

    /** Replaces all headers. */
    public Message withHeaders(Map<String, String> newHeaders) {
        Map<String, String> copy = Collections.unmodifiableMap(new LinkedHashMap<>(newHeaders));
        return new Message(
                topic, payload, key, copy, contentType, correlationId, priority, deliverAt, delay, idempotencyKey);
    }

    /** Overrides the content type that follows from the payload. */
    public Message withContentType(String newContentType) {
        return new Message(
                topic,
                payload,
                key,
                headers,
                newContentType,
                correlationId,
                priority,
                deliverAt,
                delay,
                idempotencyKey);
    }

    public Message withCorrelationId(String newCorrelationId) {
        return new Message(
                topic,
                payload,
                key,
                headers,
                contentType,
                newCorrelationId,
                priority,
                deliverAt,
                delay,
                idempotencyKey);
    }

    public Message withPriority(Priority newPriority) {
        return new Message(
                topic,
                payload,
                key,
                headers,
                contentType,
                correlationId,
                newPriority,
                deliverAt,
                delay,
                idempotencyKey);
    }

    /** Not before this time, by the clock of the database. A time in the past means at once. */
    public Message withDeliverAt(Instant newDeliverAt) {
        return new Message(
                topic, payload, key, headers, contentType, correlationId, priority, newDeliverAt, null, idempotencyKey);
    }

    /** Not before this long after it is published. */
    public Message withDelay(Duration newDelay) {
        return new Message(
                topic, payload, key, headers, contentType, correlationId, priority, null, newDelay, idempotencyKey);
    }

    /**
     * Makes a publish that is tried again one message: within the installation's window (24 hours by default) only the
     * first message with this idempotency key, for its topic and key, enters the log.
     */
    public Message withIdempotencyKey(String newIdempotencyKey) {
        return new Message(
                topic,
                payload,
                key,
                headers,
                contentType,
                correlationId,
                priority,
                deliverAt,
                delay,
                newIdempotencyKey);
    }

    public String topic() {
        return topic;
    }

    public Object payload() {
        return payload;
    }

    public @Nullable String key() {
        return key;
    }

    public Map<String, String> headers() {
        return headers;
    }

    public @Nullable String contentType() {
        return contentType;
    }

    public @Nullable String correlationId() {
        return correlationId;
    }

    public Priority priority() {
        return priority;
    }

    public @Nullable Instant deliverAt() {
        return deliverAt;
    }

    public @Nullable Duration delay() {
        return delay;
    }

    public @Nullable String idempotencyKey() {
        return idempotencyKey;
    }

    @Override
    public String toString() {
        return "Message[topic=" + topic + ", key=" + key + ", idempotencyKey=" + idempotencyKey + "]";
    }
}
