package dev.trunkline.server;

import dev.trunkline.LogMessage;
import dev.trunkline.Priority;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/** How values are printed. */
public final class Output {

    private static final JsonMapper JSON = new JsonMapper();

    private static final Pattern CONTROLS = Pattern.compile("[\\x00-\\x1f\\x7f-\\x9f]");

    private Output() {}

    /** A text of somebody else's on one line, and without what would tell a terminal what to do: those characters are shown as in JSON. */
    public static String printable(String text) {
        return CONTROLS.matcher(text)
                .replaceAll(control ->
                        Matcher.quoteReplacement(escaped(control.group().charAt(0))));
    }

    private static String escaped(char control) {
        return switch (control) {
            case '\n' -> "\\n";
            case '\r' -> "\\r";
            case '\t' -> "\\t";
            default -> "\\u%04x".formatted((int) control);
        };
    }

    /** On one line. */
    public static String json(Object value) {
        return JSON.writeValueAsString(value);
    }

    /** A message on one line: where it lies and what it says, or all that belongs to it as JSON. */
    public static String line(LogMessage message, boolean json) {
        return json ? json(fields(message)) : readable(message);
    }

    private static String readable(LogMessage message) {
        return message.appendedAt() + "  " + place(message.partition(), message.priority(), message.offset()) + "  "
                + (message.key() == null ? "-" : printable(message.key())) + "  "
                + readable(message.payload(), message.contentType());
    }

    /** Where a message lies: {@code 3@70}, or {@code 3@70/HIGH} if it is not at the normal level, which has offsets of its own. */
    public static String place(int partition, Priority priority, long offset) {
        return partition + "@" + offset + (priority == Priority.NORMAL ? "" : "/" + priority);
    }

    /** A partition at one level, by the number that stands for it in SQL: {@code partition 3}, or {@code partition 3/HIGH}. */
    public static String strand(int partition, int priority) {
        return "partition " + partition + (priority == 0 ? "" : "/" + Priority.of(priority));
    }

    /** What a message says, if it is text, on one line. */
    public static String readable(byte[] payload, String contentType) {
        return printable(text(payload).orElseGet(() -> "(" + payload.length + " bytes of " + contentType + ")"));
    }

    private static Map<String, @Nullable Object> fields(LogMessage message) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("topic", message.topic());
        fields.put("partition", message.partition());
        fields.put("priority", message.priority());
        fields.put("offset", message.offset());
        fields.put("id", message.id());
        fields.put("key", message.key());
        fields.put("headers", message.headers());
        fields.put("contentType", message.contentType());
        fields.put("correlationId", message.correlationId());
        fields.put("publishedAt", message.publishedAt());
        fields.put("appendedAt", message.appendedAt());
        addPayload(fields, message.payload());
        return fields;
    }

    /** As text, or as base64 if it is none. */
    public static void addPayload(Map<String, @Nullable Object> fields, byte[] payload) {
        text(payload)
                .ifPresentOrElse(
                        text -> fields.put("text", text),
                        () -> fields.put("base64", Base64.getEncoder().encodeToString(payload)));
    }

    /** The text of bytes, if they are UTF-8. */
    public static Optional<String> text(byte[] bytes) {
        return isUtf8(bytes) ? Optional.of(new String(bytes, StandardCharsets.UTF_8)) : Optional.empty();
    }

    /** Many payloads are not, and most of those show it in their first bytes: what decodes and fails is three times as slow. */
    private static boolean isUtf8(byte[] bytes) {
        int i = 0;
        while (i < bytes.length) {
            int first = bytes[i++];
            if (first >= 0) {
                continue;
            }
            int more = first >= (byte) 0xF0 ? 3 : first >= (byte) 0xE0 ? 2 : 1;
            if (first < (byte) 0xC2 || first > (byte) 0xF4 || bytes.length - i < more) {
                return false;
            }
            // The second byte has bounds of its own: nothing is longer than it has to be, half a character, or beyond
            // the last one.
            int second = bytes[i] & 0xFF;
            int least = first == (byte) 0xE0 ? 0xA0 : first == (byte) 0xF0 ? 0x90 : 0x80;
            int most = first == (byte) 0xED ? 0x9F : first == (byte) 0xF4 ? 0x8F : 0xBF;
            if (second < least || second > most) {
                return false;
            }
            for (int end = i++ + more; i < end; i++) {
                if (bytes[i] >= (byte) 0xC0) {
                    return false;
                }
            }
        }
        return true;
    }
}
