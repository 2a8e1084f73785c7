package dev.trunkline.server.http;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;

/** Holds what callers say against what can be stored, field by field, so that a refusal names the field. */
final class Said {

    private static final int LONGEST_NAME = 255;
    private static final int MOST_HEADERS = 1_000;
    private static final int MOST_HEADER_BYTES = 65_536;

    private Said() {}

    /** Any text, of so many bytes at most, that can be stored. */
    static String text(String field, String text, int mostBytes) {
        Problem.require(text.indexOf('\0') < 0, field, "it contains NUL: remove it");
        whole(field, text);
        int bytes = text.length() > mostBytes / 3 ? text.getBytes(StandardCharsets.UTF_8).length : 0;
        Problem.require(bytes <= mostBytes, field, "it has " + bytes + " bytes, over the limit of " + mostBytes);
        return text;
    }

    /** As {@link #text}, and not empty. */
    static String word(String field, String text, int mostBytes) {
        Problem.require(!text.isEmpty(), field, "it is empty: leave it out, or use another");
        return text(field, text, mostBytes);
    }

    /** Text that is no text when it is written as UTF-8 is refused, not changed. */
    static String whole(String field, String text) {
        Problem.require(
                isWhole(text),
                field,
                "it contains half a character, a lone surrogate: remove it, or send bytes as base64");
        return text;
    }

    /** Every message comes by here: no stream. */
    private static boolean isWhole(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (Character.isSurrogate(c)) {
                if (!Character.isHighSurrogate(c)
                        || i + 1 == text.length()
                        || !Character.isLowSurrogate(text.charAt(i + 1))) {
                    return false;
                }
                i++;
            }
        }
        return true;
    }

    /** What something is called by. */
    static String name(String field, String text) {
        int length = text.codePointCount(0, text.length());
        Problem.require(
                length >= 1
                        && length <= LONGEST_NAME
                        && isWhole(text)
                        && text.codePoints().noneMatch(Character::isISOControl),
                field,
                "it has 1 to " + LONGEST_NAME + " characters, none of them a control character or half a one");
        return text;
    }

    static Map<String, String> headers(Map<String, String> headers) {
        long bytes = 0;
        for (Map.Entry<String, String> header : headers.entrySet()) {
            if (header.getValue() == null) {
                throw Problem.of("headers", "a header has a value");
            }
            bytes += text("headers", header.getKey(), MOST_HEADER_BYTES).getBytes(StandardCharsets.UTF_8).length;
            bytes += text("headers", header.getValue(), MOST_HEADER_BYTES).getBytes(StandardCharsets.UTF_8).length;
        }
        Problem.require(
                headers.size() <= MOST_HEADERS && bytes <= MOST_HEADER_BYTES,
                "headers",
                "they are over the limit of " + MOST_HEADER_BYTES + " bytes in " + MOST_HEADERS
                        + " fields: put the data into the payload");
        return headers;
    }

    static Duration upTo(Duration most, String field, Duration value) {
        Problem.require(
                !value.isNegative() && value.compareTo(most) <= 0, field, "it is zero to " + most + ", not " + value);
        return value;
    }

    static Duration positive(Duration most, String field, Duration value) {
        Problem.require(!value.isZero(), field, "it is more than zero");
        return upTo(most, field, value);
    }

    static void within(long least, long most, String field, long value) {
        Problem.require(value >= least && value <= most, field, "it is " + least + " to " + most + ", not " + value);
    }
}
