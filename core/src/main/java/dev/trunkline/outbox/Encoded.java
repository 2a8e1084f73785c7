package dev.trunkline.outbox;

import dev.trunkline.Codec;
import dev.trunkline.InvalidMessageException;
import dev.trunkline.Message;
import dev.trunkline.database.Texts;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A message that is ready to be sent: its payload as bytes, its text known to be text.
 *
 * @param headers an array literal of names and values, null without headers
 * @param due when it is due, as {@code trunkline.due} reads it: a time, or how long from now; null for at once
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record Encoded(
        String topic,
        byte[] payload,
        @Nullable String key,
        @Nullable String headers,
        String contentType,
        @Nullable String correlationId,
        int priority,
        @Nullable String due,
        @Nullable String idempotencyKey) {

    private static final Instant LATEST = Instant.parse("9999-12-31T23:59:59Z");
    private static final Duration LONGEST = Duration.ofDays(36_500);
    private static final int LONGEST_TEXT = 1024;
    private static final int MOST_HEADERS = 1000;
    private static final int MOST_HEADER_BYTES = 65_536;

    /**
     * Makes a message ready.
     *
     * @throws InvalidMessageException if something in it can not be stored
     */
    public static Encoded of(Message message, Codec codec) {
        String contentType = message.contentType();
        byte[] payload;
        String natural;
        switch (message.payload()) {
            case byte[] bytes -> {
                payload = bytes;
                natural = "application/octet-stream";
            }
            case String text -> {
                payload = utf8("payload", text);
                natural = "text/plain";
            }
            case Object object -> {
                payload = codec.encode(object);
                natural = codec.contentType();
            }
        }
        return new Encoded(
                text("topic", message.topic(), 4 * LONGEST_TEXT),
                payload,
                optionalText("key", message.key()),
                headers(message.headers()),
                nonEmpty("content type", text("content type", contentType == null ? natural : contentType, 255)),
                optionalText("correlation id", message.correlationId()),
                message.priority().code(),
                due(message),
                idempotencyKey(message.idempotencyKey()));
    }

    private static @Nullable String idempotencyKey(@Nullable String key) {
        return key == null ? null : nonEmpty("idempotency key", text("idempotency key", key, LONGEST_TEXT));
    }

    private static @Nullable String due(Message message) {
        Duration delay = message.delay();
        if (delay != null) {
            if (delay.isNegative() || delay.compareTo(LONGEST) > 0) {
                throw new InvalidMessageException(
                        "a message can not be delayed by " + delay + ": use zero to " + LONGEST.toDays() + " days");
            }
            return delay.isZero() ? null : "in " + delay;
        }
        Instant at = message.deliverAt();
        if (at == null || at.isBefore(Instant.EPOCH)) {
            return null;
        }
        if (at.isAfter(LATEST)) {
            throw new InvalidMessageException(
                    "a message can not be due at " + at + ": use a time before the year 10000");
        }
        return at.toString();
    }

    /** What it takes of memory while it is under way, about. */
    public int weight() {
        return payload.length + (headers == null ? 0 : headers.length()) + 200;
    }

    private static @Nullable String headers(Map<String, String> headers) {
        if (headers.isEmpty()) {
            return null;
        }
        StringBuilder literal = new StringBuilder("{");
        int bytes = 0;
        for (Map.Entry<String, String> header : headers.entrySet()) {
            literal.append(literal.length() > 1 ? "," : "");
            bytes += quote(literal, text("header name", header.getKey(), MOST_HEADER_BYTES));
            literal.append(',');
            bytes += quote(literal, text("header \"" + header.getKey() + "\"", header.getValue(), MOST_HEADER_BYTES));
        }
        if (headers.size() > MOST_HEADERS || bytes > MOST_HEADER_BYTES) {
            throw new InvalidMessageException("headers of " + bytes + " bytes in " + headers.size()
                    + " fields are over the limit of " + MOST_HEADER_BYTES + " bytes in " + MOST_HEADERS
                    + " fields: put the data into the payload");
        }
        return literal.append('}').toString();
    }

    /** Appends the text as an element of an array literal and returns its size in bytes. */
    private static int quote(StringBuilder literal, String text) {
        literal.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                literal.append('\\');
            }
            literal.append(c);
        }
        literal.append('"');
        return utf8Length(text);
    }

    private static String nonEmpty(String what, String text) {
        if (text.isEmpty()) {
            throw new InvalidMessageException("the " + what + " is empty: leave it out, or use another");
        }
        return text;
    }

    private static @Nullable String optionalText(String what, @Nullable String text) {
        return text == null ? null : text(what, text, LONGEST_TEXT);
    }

    private static String text(String what, @Nullable String text, int mostBytes) {
        if (text == null) {
            throw new InvalidMessageException("the " + what + " is null: headers are names and values that are text");
        }
        String flaw = Texts.flaw(text);
        if (flaw != null) {
            throw new InvalidMessageException("the " + what + " " + flaw + ": remove it");
        }
        if (text.length() > mostBytes / 4 && utf8Length(text) > mostBytes) {
            throw new InvalidMessageException("the " + what + " has " + utf8Length(text) + " bytes, over the limit of "
                    + mostBytes + ": use a shorter one");
        }
        return text;
    }

    private static int utf8Length(String text) {
        int bytes = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            bytes += c < 0x80 ? 1 : c < 0x800 || Character.isSurrogate(c) ? 2 : 3;
        }
        return bytes;
    }

    private static byte[] utf8(String what, String text) {
        try {
            ByteBuffer bytes = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
            byte[] exact = new byte[bytes.remaining()];
            bytes.get(exact);
            return exact;
        } catch (CharacterCodingException e) {
            throw new InvalidMessageException(
                    "the " + what + " contains a lone surrogate: remove it, or publish bytes", e);
        }
    }
}
