package dev.trunkline.server.http;

import dev.trunkline.rig.HostileInputs;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What can be said in a field of some kind, and whether it is to be taken: by the rules of docs/http.md, not by asking the server. */
final class HostileValues {

    /** No JSON, whatever field it stands in. */
    static final List<String> BROKEN = List.of(
            "",
            "01",
            "+1",
            "NaN",
            "Infinity",
            ".5",
            "0x10",
            "'a'",
            "tru",
            "undefined",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\n\"",
            "\"",
            "{",
            "[1,]",
            "{\"a\"}",
            "{a: 1}",
            "/* */",
            "[".repeat(5_000),
            "9".repeat(5_000));

    private static final List<String> NO_TEXT = List.of(
            "{}", "[]", "5", "-1", "0.5", "1e400", "true", "false", "[null]", "[[]]", "[\"a\"]", "{\"a\": \"b\"}");
    private static final List<String> NO_NUMBER = List.of(
            "{}",
            "[]",
            "\"5\"",
            "true",
            "false",
            "0.5",
            "1.5",
            "1.0",
            "1e2",
            "1e400",
            "1e-400",
            "-0.0",
            "[5]",
            "[null]",
            "{\"a\": 1}");
    private static final List<String> DURATIONS = List.of(
            "PT",
            "P",
            "P1Y",
            "P1M",
            "P1W",
            "P1DT",
            "PT5",
            "PTS",
            "PT5S5",
            "PT1H1H",
            "--PT5S",
            "PT-5S",
            "-PT5S",
            "P-1D",
            "PT-0.001S",
            "PT1e3S",
            "PT 5S",
            " PT5S",
            "PT5S ",
            "5s",
            "1h",
            "5 minutes",
            "00:05:00",
            "P99999999999D",
            "PT9223372036854775807S",
            "PT9223372036854775808S",
            "PT0S",
            "-PT0S",
            "PT0.0000000001S",
            "PT0.001S",
            "PT1S",
            "pt5s",
            "PT24H",
            "PT24H0.000000001S",
            "PT1M0.001S",
            "PT61S",
            "P2D",
            "P361D",
            "P10001D",
            "P36501D",
            "P1000000D");
    private static final List<String> TIMES = List.of(
            "2026",
            "2026-01-01",
            "2026-13-01T00:00:00Z",
            "2026-02-30T00:00:00Z",
            "2026-01-01T25:00:00Z",
            "2026-01-01T00:00:00",
            "2026-01-01 00:00:00Z",
            "2026-01-01T00:00Z[Europe/Paris]",
            "+10000-01-01T00:00:00Z",
            "+999999999-12-31T23:59:59Z",
            "+1000000000-01-01T00:00:00Z",
            "-999999999-01-01T00:00:00Z",
            "-4714-01-01T00:00:00Z",
            "0000-00-00",
            "1e9",
            "today",
            "infinity",
            "-infinity",
            "1",
            "2026-01-01T00:00:00Z",
            "0001-01-01T00:00:00Z",
            "9999-12-31T23:59:59Z");
    private static final List<String> PLACES = List.of(
            "offset:",
            "offset:-1",
            "offset:x",
            "offset:1.5",
            "offset: 1",
            "offset:99999999999999999999",
            "offset:9223372036854775808",
            "message:",
            "message:x",
            "message:99999999999999999999",
            "message:1e3",
            "time:now",
            "now ",
            " beginning",
            "latest",
            "earliest",
            "yesterday",
            "PT5S");
    private static final Set<String> GOOD_PLACES = Set.of("beginning", "now", "offset:0", "2026-01-01T00:00:00Z");

    private HostileValues() {}

    /** @param json as it stands in a body */
    record Value(String json, boolean legal) {}

    // ---- rules ----

    static boolean isName(String text) {
        int length = text.codePointCount(0, text.length());
        return length >= 1 && length <= 255 && isWhole(text) && text.chars().noneMatch(Character::isISOControl);
    }

    /** A text of so many bytes that PostgreSQL can store. */
    static Predicate<String> text(int least, int most) {
        return text -> {
            int bytes = text.getBytes(StandardCharsets.UTF_8).length;
            return isWhole(text) && text.indexOf('\0') < 0 && bytes >= least && bytes <= most;
        };
    }

    /** Whether it can be written as UTF-8. */
    static boolean isWhole(String text) {
        return StandardCharsets.UTF_8.newEncoder().canEncode(text);
    }

    static boolean isNumber(String text, long least, long most) {
        if (!text.matches("-?[0-9]{1,40}")) {
            return false;
        }
        BigInteger number = new BigInteger(text);
        return number.compareTo(BigInteger.valueOf(least)) >= 0 && number.compareTo(BigInteger.valueOf(most)) <= 0;
    }

    static boolean isDuration(String text, Duration least, Duration most) {
        try {
            Duration duration = Duration.parse(text);
            return duration.compareTo(least) >= 0 && duration.compareTo(most) <= 0;
        } catch (DateTimeException e) {
            return false;
        }
    }

    // ---- as text, for queries ----

    /** About the edges of what processors and people call a number. */
    static List<String> integers() {
        Set<String> all = new LinkedHashSet<>();
        for (int bits : List.of(0, 1, 7, 8, 10, 13, 15, 16, 28, 31, 32, 52, 53, 62, 63, 64, 127, 128)) {
            BigInteger edge = BigInteger.TWO.pow(bits);
            for (int near = -1; near <= 1; near++) {
                all.add(edge.add(BigInteger.valueOf(near)).toString());
                all.add(edge.add(BigInteger.valueOf(near)).negate().toString());
            }
        }
        for (int digits = 1; digits <= 30; digits += 3) {
            all.add("1" + "0".repeat(digits));
            all.add("-1" + "0".repeat(digits));
        }
        return List.copyOf(all);
    }

    static List<String> numbersAsText() {
        return concat(
                concat(
                        List.of(
                                "+5",
                                "5 ",
                                " 5",
                                "5.0",
                                "1e3",
                                "0x10",
                                "1_000",
                                "1,000",
                                "1L",
                                "5;6",
                                "--5",
                                "-",
                                "\u0663",
                                "\uff15",
                                "\u0967",
                                "\u00b2",
                                "\u221e",
                                "Infinity",
                                "five",
                                "PT5S",
                                "[5]",
                                "\"5\"",
                                "5\0"),
                        integers()),
                HostileInputs.names());
    }

    static List<String> durationsAsText() {
        return concat(concat(DURATIONS, integers()), HostileInputs.names());
    }

    // ---- as JSON ----

    static List<Value> texts(Predicate<String> rule) {
        return values(NO_TEXT, HostileInputs.names(), rule);
    }

    /** Of which it can be only one, of those none is among these. */
    static List<Value> words(String... words) {
        List<String> near = new ArrayList<>(HostileInputs.names());
        for (String word : words) {
            near.addAll(List.of(word.toLowerCase(java.util.Locale.ROOT), word + " ", word + "," + word, word + "\0"));
        }
        return values(concat(NO_TEXT, List.of("0", "1")), near, text -> false);
    }

    static List<Value> booleans() {
        return values(
                List.of("{}", "[]", "5", "0", "1", "-1", "0.5", "1e400", "[true]", "[null]", "{\"a\": true}"),
                concat(HostileInputs.names(), List.of("false", "TRUE", "yes", "on", "1")),
                text -> false);
    }

    /** @param sent the greatest of the good ones that is said */
    static List<Value> numbers(long least, long most, long sent) {
        List<Value> all = new ArrayList<>(values(NO_NUMBER, HostileInputs.names(), text -> false));
        for (String number : integers()) {
            boolean legal = isNumber(number, least, most);
            if (!legal || isNumber(number, least, sent)) {
                all.add(new Value(number, legal));
            }
        }
        return all;
    }

    /** @param sent the longest of the good ones that is said */
    static List<Value> durations(Duration least, Duration most, Duration sent) {
        List<String> texts = concat(DURATIONS, HostileInputs.names()).stream()
                .filter(text -> !isDuration(text, least, most) || isDuration(text, least, sent))
                .toList();
        return values(NO_TEXT, texts, text -> isDuration(text, least, most));
    }

    static List<Value> times() {
        return values(NO_TEXT, concat(TIMES, HostileInputs.names()), text -> {
            try {
                Instant time = Instant.parse(text);
                return !time.isBefore(Instant.parse("0001-01-01T00:00:00Z"))
                        && !time.isAfter(Instant.parse("9999-12-31T23:59:59Z"));
            } catch (DateTimeException e) {
                return false;
            }
        });
    }

    static List<Value> places() {
        List<String> badTimes = TIMES.stream()
                .filter(text -> !text.matches("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ")
                        || text.startsWith("2026-13")
                        || text.startsWith("2026-02-30")
                        || text.contains("T25"))
                .toList();
        return values(
                NO_TEXT,
                concat(concat(PLACES, badTimes), concat(List.copyOf(GOOD_PLACES), HostileInputs.names())),
                GOOD_PLACES::contains);
    }

    /** Arrays of numbers; {@code all}: whether any number will do, or only none at all. */
    static List<Value> longs(boolean all) {
        List<Value> values = new ArrayList<>(bad(Stream.of(
                "{}", "5", "\"a\"", "true", "0.5", "[null]", "[0.5]", "[true]", "[[]]", "[{}]", "[1e3]", "[\"5\"]")));
        values.addAll(bad(HostileInputs.names().stream().map(name -> "[" + quoted(name) + "]")));
        values.add(new Value("[]", true));
        for (String number : integers()) {
            boolean fits = isNumber(number, Long.MIN_VALUE, Long.MAX_VALUE);
            // The small ones may be there.
            if (!fits || number.length() > 4) {
                values.add(new Value("[" + number + "]", all && fits));
            }
        }
        return values;
    }

    static List<Value> textLists(Predicate<String> rule) {
        List<Value> values = new ArrayList<>(
                bad(Stream.of("{}", "5", "\"a\"", "true", "[]", "[null]", "[5]", "[true]", "[[]]", "[{}]", "[0.5]")));
        HostileInputs.names().forEach(name -> values.add(new Value("[" + quoted(name) + "]", rule.test(name))));
        HostileInputs.names().stream()
                .filter(rule.negate())
                .forEach(name -> values.add(new Value("[\"READ\", " + quoted(name) + "]", false)));
        return values;
    }

    static List<Value> headers() {
        List<Value> values = new ArrayList<>(bad(Stream.of(
                "[]",
                "5",
                "\"a\"",
                "true",
                "0.5",
                "{\"a\": null}",
                "{\"a\": {}}",
                "{\"a\": []}",
                "{\"a\": 5}",
                "{\"a\": 0.5}",
                "{\"a\": true}",
                "[\"a\"]",
                "[[\"a\", \"b\"]]")));
        List<Map<String, String>> all = new ArrayList<>(HostileInputs.headers());
        HostileInputs.names().forEach(name -> all.add(Map.of(name, "v")));
        HostileInputs.names().forEach(name -> all.add(Map.of("n", name)));
        Predicate<String> storable = text(0, Integer.MAX_VALUE);
        for (Map<String, String> headers : all) {
            List<String> texts = Stream.concat(headers.keySet().stream(), headers.values().stream())
                    .toList();
            int bytes = texts.stream()
                    .mapToInt(text -> text.getBytes(StandardCharsets.UTF_8).length)
                    .sum();
            String json = headers.entrySet().stream()
                    .map(its -> quoted(its.getKey()) + ": " + quoted(its.getValue()))
                    .collect(Collectors.joining(", ", "{", "}"));
            values.add(
                    new Value(json, texts.stream().allMatch(storable) && headers.size() <= 1_000 && bytes <= 65_536));
        }
        return values;
    }

    static List<Value> base64(int most) {
        List<Value> values = new ArrayList<>(texts(text -> {
            try {
                return Base64.getDecoder().decode(text).length <= most;
            } catch (IllegalArgumentException e) {
                return false;
            }
        }));
        for (byte[] payload : HostileInputs.payloads()) {
            values.add(new Value(quoted(Base64.getEncoder().encodeToString(payload)), payload.length <= most));
        }
        return values;
    }

    /** Text of a message, which may hold NUL: it is kept as bytes. */
    static List<Value> payloadTexts(int most) {
        return texts(text -> isWhole(text) && text.getBytes(StandardCharsets.UTF_8).length <= most);
    }

    /** Any JSON will do, if it is JSON; half a character, too, which stays as it was said. */
    static List<Value> payloads(int most) {
        List<Value> values = new ArrayList<>();
        for (String json : List.of("{}", "[]", "5", "1e400", "-0", "1e-999999999", "true", "{\"a\": \"\\u0000\"}")) {
            values.add(new Value(json, true));
        }
        values.addAll(bad(Stream.of(
                "{\"a\": 1, \"a\": 2}",
                "[".repeat(101) + "]".repeat(101),
                "{\"a\":".repeat(101) + "1" + "}".repeat(101),
                "\"" + "x".repeat(most) + "\"",
                "9".repeat(101))));
        for (String name : HostileInputs.names()) {
            int bytes = name.getBytes(StandardCharsets.UTF_8).length;
            if (bytes < most / 2 || bytes > most) {
                values.add(new Value(quoted(name), bytes <= most));
            }
        }
        return values;
    }

    static List<Value> orNull(List<Value> values) {
        List<Value> all = new ArrayList<>(values);
        all.add(new Value("null", false));
        return all;
    }

    private static List<Value> bad(Stream<String> json) {
        return json.map(its -> new Value(its, false)).toList();
    }

    private static List<Value> values(List<String> bad, List<String> texts, Predicate<String> rule) {
        Set<Value> all = new LinkedHashSet<>(bad(bad.stream()));
        texts.forEach(text -> all.add(new Value(quoted(text), rule.test(text))));
        return List.copyOf(all);
    }

    private static List<String> concat(List<String> some, List<String> more) {
        return Stream.concat(some.stream(), more.stream()).distinct().toList();
    }

    /** As JSON of ASCII alone: half a character, too. */
    static String quoted(String text) {
        StringBuilder json = new StringBuilder("\"");
        text.chars().forEach(c -> {
            if (c < ' ' || c > '~' || c == '"' || c == '\\') {
                json.append("\\u%04x".formatted(c));
            } else {
                json.append((char) c);
            }
        });
        return json.append('"').toString();
    }
}
