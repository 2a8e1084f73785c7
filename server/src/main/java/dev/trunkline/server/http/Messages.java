package dev.trunkline.server.http;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.trunkline.LogMessage;
import dev.trunkline.Message;
import dev.trunkline.Priority;
import dev.trunkline.Receipt;
import dev.trunkline.server.Output;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Messages as they are said and told. */
final class Messages {

    private static final String TEXT = "text/plain";
    private static final String BYTES = "application/octet-stream";

    private static final int LONGEST_TEXT = 1_024;
    private static final int LONGEST_TYPE = 255;
    private static final Duration LONGEST_DELAY = Duration.ofDays(36_500);
    private static final Instant EARLIEST = Instant.parse("0001-01-01T00:00:00Z");
    private static final Instant LATEST = Instant.parse("9999-12-31T23:59:59Z");

    private Messages() {}

    static String contentType(String type) {
        return Said.word("contentType", type, LONGEST_TYPE);
    }

    /** @param field where it was said */
    static String idempotencyKey(String field, String key) {
        return Said.word(field, key, LONGEST_TEXT);
    }

    /**
     * A message that is to be published. What it says is one of three.
     *
     * @param payload any JSON
     * @param text as it is
     * @param base64 any bytes
     */
    record NewMessage(
            @Nullable AnyJson payload,
            @Nullable String text,
            @Nullable String base64,
            @Nullable String key,
            @Nullable Map<String, String> headers,
            @Nullable String contentType,
            @Nullable String correlationId,
            @Nullable Priority priority,
            @Nullable Duration delay,
            @Nullable Instant deliverAt,
            @Nullable String idempotencyKey) {

        Message of(String topic) {
            Content content = content();
            Message message = Message.of(topic, content.bytes())
                    .withContentType(contentType == null ? content.type() : Messages.contentType(contentType));
            if (key != null) {
                message = message.withKey(Said.text("key", key, LONGEST_TEXT));
            }
            if (headers != null) {
                message = message.withHeaders(Said.headers(headers));
            }
            if (correlationId != null) {
                message = message.withCorrelationId(Said.text("correlationId", correlationId, LONGEST_TEXT));
            }
            if (priority != null) {
                message = message.withPriority(priority);
            }
            if (delay != null && deliverAt != null) {
                throw Problem.of("delay", "a message has a delay, or a time at which it is due, not both");
            }
            if (delay != null) {
                message = message.withDelay(Said.upTo(LONGEST_DELAY, "delay", delay));
            }
            if (deliverAt != null) {
                Problem.require(
                        !deliverAt.isBefore(EARLIEST) && !deliverAt.isAfter(LATEST),
                        "deliverAt",
                        "it is a time in the years 1 to 9999");
                message = message.withDeliverAt(deliverAt);
            }
            return idempotencyKey == null
                    ? message
                    : message.withIdempotencyKey(Messages.idempotencyKey("idempotencyKey", idempotencyKey));
        }

        /** Where it says what it says. */
        String field() {
            return text != null ? "text" : base64 != null ? "base64" : "payload";
        }

        private Content content() {
            return Content.of(payload, text, base64)
                    .orElseThrow(() -> Problem.of("payload", "a message has one of payload (JSON), text and base64"));
        }
    }

    /** What a message says. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Content(byte[] bytes, String type) {

        /** Empty: nothing is said. */
        static Optional<Content> of(@Nullable AnyJson payload, @Nullable String text, @Nullable String base64) {
            int said = (payload == null ? 0 : 1) + (text == null ? 0 : 1) + (base64 == null ? 0 : 1);
            if (said > 1) {
                throw Problem.of("payload", "a message has one of payload (JSON), text and base64");
            }
            if (payload != null) {
                return Optional.of(new Content(payload.bytes(), Exchange.JSON));
            }
            if (text != null) {
                return Optional.of(new Content(Said.whole("text", text).getBytes(StandardCharsets.UTF_8), TEXT));
            }
            return Optional.ofNullable(base64).map(encoded -> new Content(decoded(encoded), BYTES));
        }

        private static byte[] decoded(String base64) {
            try {
                return Base64.getDecoder().decode(base64);
            } catch (IllegalArgumentException e) {
                throw Problem.of("base64", "it is not base64: " + e.getMessage());
            }
        }
    }

    /** A receipt as it is told. */
    record Published(
            long id, @Nullable Integer partition, @Nullable Long offset, boolean duplicate) {

        static Published of(Receipt receipt) {
            return new Published(
                    receipt.id(),
                    receipt.partition().isPresent() ? receipt.partition().getAsInt() : null,
                    receipt.offset().isPresent() ? receipt.offset().getAsLong() : null,
                    receipt.duplicate());
        }
    }

    /**
     * A message as it is told; what it does not have is left out.
     *
     * @param text what it says, if that is text
     * @param base64 if it is not
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record ReadMessage(
            int partition,
            Priority priority,
            long offset,
            long id,
            @Nullable String key,
            Map<String, String> headers,
            String contentType,
            @Nullable String correlationId,
            Instant publishedAt,
            Instant appendedAt,
            @Nullable Integer attempt,
            @Nullable String text,
            byte @Nullable [] base64) {

        static ReadMessage of(LogMessage message) {
            return of(message, null);
        }

        static ReadMessage of(LogMessage message, @Nullable Integer attempt) {
            String text = Output.text(message.payload()).orElse(null);
            return new ReadMessage(
                    message.partition(),
                    message.priority(),
                    message.offset(),
                    message.id(),
                    message.key(),
                    message.headers(),
                    message.contentType(),
                    message.correlationId(),
                    message.publishedAt(),
                    message.appendedAt(),
                    attempt,
                    text,
                    text == null ? message.payload() : null);
        }
    }
}
