package dev.trunkline.rig;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Names, keys, headers and payloads that have broken other systems. They are given as they are: who takes them decides which to refuse. */
public final class HostileInputs {

    /** The longest that is shown of one. */
    private static final int SHOWN = 60;

    private HostileInputs() {}

    /** What can be a name, a key or any other short text. */
    public static List<String> names() {
        return Stream.of(blank(), lengths(), quotes(), injections(), paths(), words(), scripts(), twins(), broken())
                .flatMap(List::stream)
                .toList();
    }

    /** Those that a rule for names refuses, and every fifth of the others: for what costs much, or goes a way that others went with all of them. */
    public static List<String> some(Predicate<String> rule) {
        List<String> all = names();
        return IntStream.range(0, all.size())
                .filter(i -> i % 5 == 0 || !rule.test(all.get(i)))
                .mapToObj(all::get)
                .toList();
    }

    private static List<String> blank() {
        return List.of("", " ", "   ", "\u00a0", "\u3000", "\u200b", "\ufeff", "\u2028", " padded ", "-", "_", ".");
    }

    /** About 63 bytes, which PostgreSQL cuts identifiers to; 255 characters; and what an index can hold. */
    private static List<String> lengths() {
        return List.of(
                "x".repeat(63),
                "x".repeat(64),
                "x".repeat(255),
                "x".repeat(256),
                "x".repeat(1_024),
                "x".repeat(1_025),
                "x".repeat(10_000),
                noise(10_000),
                "\u00fc".repeat(255),
                "\u00fc".repeat(512),
                "\u00fc".repeat(513),
                "\ud83e\udd84".repeat(255),
                "\ud83e\udd84".repeat(256),
                "a ".repeat(127) + "a");
    }

    private static List<String> quotes() {
        return List.of(
                "'", "''", "\"", "\"\"", "`", "\\", "\\\\", "a\\", "\\n", "$$", "$1", "?", "??", ":name", "%", "%s",
                "%1$s", "{}", "{0}", "${x}", "#{x}", "{", "}", ",", "a,b", "[", "(", "NULL", "*", "a*", "a?", "\\*",
                "a|b");
    }

    private static List<String> injections() {
        return List.of(
                "x'; drop schema trunkline cascade; --",
                "x\"; drop schema trunkline cascade; --",
                "x\\'; drop schema trunkline cascade; --",
                "' or '1'='1",
                "1; select pg_sleep(100)",
                "$$; drop table trunkline.topic; $$",
                "'||(select password from pg_shadow limit 1)||'",
                "/* x */ -- y",
                "<script>alert(1)</script>",
                "=cmd|'/c calc'!A0",
                "; rm -rf / #",
                "$(reboot)",
                "`reboot`",
                "() { :; }; reboot",
                "{{7*7}}",
                "${jndi:ldap://127.0.0.1/a}",
                "%n%n%n%n");
    }

    private static List<String> paths() {
        return List.of(
                "../../etc/passwd",
                "..\\..\\boot.ini",
                "/",
                "//",
                "C:\\",
                "file:///etc/passwd",
                "%00",
                "%2e%2e%2f",
                "a/b");
    }

    private static List<String> words() {
        return List.of(
                "null",
                "true",
                "0",
                "-1",
                "1e400",
                "NaN",
                "select",
                "trunkline",
                "pg_catalog",
                "segment_1",
                "shared",
                "--help",
                "-x");
    }

    private static List<String> scripts() {
        return List.of(
                "\u05e9\u05dc\u05d5\u05dd",
                "\u202eevil\u202c",
                "\u2066a\u2069",
                "\ud83e\udd84",
                "\ud83d\udc69\u200d\ud83d\udc69\u200d\ud83d\udc67\u200d\ud83d\udc66",
                "\u65e5\u672c\u8a9e",
                "\u0939\u093f\u0928\u094d\u0926\u0940",
                "Z\u0351\u036b\u0343\u036aA\u0322\u0321\u0323LGO",
                "\ud800\udc00",
                "\udbff\udfff",
                "\uffff",
                "\ufffd",
                "\ue000");
    }

    /** Different texts that somebody may take for the same. */
    private static List<String> twins() {
        return List.of(
                "Orders", "orders", "ORDERS", "orders ", "\u00e9", "e\u0301", "\u212b", "\u00c5", "\ufb01", "fi",
                "\u0131", "I", "\u0130", "\u00df", "SS", "\u0430", "a");
    }

    /** What PostgreSQL can not store, or no line can show. */
    private static List<String> broken() {
        return List.of(
                "\0",
                "a\0b",
                "a\0",
                "\ud800",
                "\udc00",
                "a\ud83e",
                "\udd84\ud83e",
                "\udbff\udbff\udfff",
                "a\nb",
                "a\rb",
                "a\tb",
                "\u0001",
                "\u001b[31mred",
                "\u007f",
                "\u0085",
                "\u009f",
                "a\u0000\ud800");
    }

    /** What PostgreSQL can neither shorten nor put into an index. */
    private static String noise(int length) {
        return new Random(length)
                .ints(length, '!', '~')
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
    }

    /** Payloads of any kind up to a mebibyte. */
    public static List<byte[]> payloads() {
        byte[] mebibyte = new byte[1 << 20];
        new Random(1).nextBytes(mebibyte);
        List<byte[]> payloads = new ArrayList<>(List.of(
                new byte[0],
                new byte[1],
                new byte[8_192],
                bytes(0xff, 0xfe, 0, 1),
                bytes(0xed, 0xa0, 0x80),
                bytes(0xc0, 0x80),
                bytes(0xf4, 0x90, 0x80, 0x80),
                bytes(0xef, 0xbb, 0xbf, '{', '}'),
                bytes('a', 0, 'b'),
                bytes(0xac, 0xed, 0, 5, 's', 'r'),
                bytes(0x1f, 0x8b, 8, 0),
                mebibyte));
        Stream.of(
                        "{\"a\":\"\\u0000\"}",
                        "{\"a\":\"\\ud800\"}",
                        "{\"a\":1,\"a\":2}",
                        "[".repeat(10_000),
                        "[".repeat(10_000) + "]".repeat(10_000),
                        "{\"a\":".repeat(5_000) + "1" + "}".repeat(5_000),
                        "1e400",
                        "-0",
                        "9".repeat(10_000),
                        "1e-999999999",
                        "\\x00",
                        "\\N",
                        "\\.",
                        "{1,2}",
                        "'; drop schema trunkline cascade; --")
                .map(text -> text.getBytes(StandardCharsets.UTF_8))
                .forEach(payloads::add);
        return List.copyOf(payloads);
    }

    private static byte[] bytes(int... values) {
        byte[] bytes = new byte[values.length];
        IntStream.range(0, values.length).forEach(i -> bytes[i] = (byte) values[i]);
        return bytes;
    }

    /** Headers in odd numbers and sizes; names and values themselves are texts as any. */
    public static List<Map<String, String>> headers() {
        return List.of(
                Map.of(),
                Map.of("", ""),
                numbered(1_000, "v"),
                numbered(1_001, "v"),
                numbered(100_000, "v"),
                Map.of("big", "x".repeat(65_533)),
                Map.of("big", "x".repeat(65_534)),
                Map.of("x".repeat(65_535), "y"),
                Map.of("x".repeat(65_536), "y"),
                Map.of("two", "\u00fc".repeat(32_766)),
                Map.of("two", "\u00fc".repeat(32_767)),
                numbered(64, "x".repeat(1_000)),
                Map.of("NULL", "NULL", "null", "\"NULL\"", "{", "}", "a,b", "{a,b}", "\\\"", "\\\\\""));
    }

    private static Map<String, String> numbered(int count, String value) {
        Map<String, String> headers = new LinkedHashMap<>();
        IntStream.range(0, count).forEach(i -> headers.put("h" + i, value));
        return headers;
    }

    /** An input for people: in a line, and not too long. */
    public static String show(String text) {
        StringBuilder shown = new StringBuilder("\"");
        text.chars().limit(SHOWN).forEach(c -> {
            if (c < ' ' || c > '~') {
                shown.append("\\u%04x".formatted(c));
            } else {
                shown.append((char) c);
            }
        });
        return shown.append('"')
                .append(text.length() > SHOWN ? " (" + text.length() + " characters)" : "")
                .toString();
    }
}
