package dev.trunkline.server.http;

import dev.trunkline.ConsumerGroup;
import dev.trunkline.rig.HostileInputs;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/** Requests to one route, each with one thing that is bad, or odd and good. What is bad is asked of the witness; what is good, of others. */
final class HostileRequests {

    /** What is longer is refused before anybody looks at its parts. */
    private static final int LONG = 12_000;

    private static final List<String> NO_JSON = List.of(
            "",
            " ",
            "{",
            "}",
            "[",
            "]",
            "{]",
            "nul",
            "null",
            "true",
            "5",
            "-",
            "1e999999999",
            "\"",
            "\"a\"",
            "{\"a\"}",
            "{\"a\":}",
            "{a: 1}",
            "{'a': 1}",
            "[1,]",
            "{\"a\": 1,}",
            "// comment",
            "{} {}",
            "{} x",
            "{},",
            "\u0000",
            "\ufeff{}x",
            "<a/>",
            "a=b&c=d",
            "--",
            "%00",
            "{\"__proto__\": {}}",
            "{\"@class\": \"java.lang.Runtime\"}",
            "[\"java.lang.Runtime\", {}]",
            "[".repeat(5_000),
            "{\"a\":".repeat(5_000),
            "[[[[[[[[]]]]]]]]",
            "9".repeat(5_000));

    private static final List<String> TYPES = List.of(
            "",
            ";",
            "text/plain",
            "text/json",
            "application/xml",
            "application/json5",
            "application/jsonx",
            "application/x-www-form-urlencoded",
            "multipart/form-data",
            "multipart/form-data; boundary=x",
            "a/b/c",
            "*/*",
            "application",
            "application/",
            "/json",
            "application / json",
            "application/json,application/json",
            "application/octet-stream",
            "application/vnd.api+json");

    private static final List<String> NO_PERCENT = List.of(
            "%", "%2", "%zz", "%%", "%FF", "%FE%FF", "%C0%AF", "%C0%80", "%ED%A0%80", "%F4%90%80%80", "%E2%82", "%80");

    private static final List<String> SCHEMES = List.of(
            "",
            "Bearer",
            "Bearer ",
            "bearer",
            "Basic YTpi",
            "Basic",
            "Digest x",
            "Negotiate x",
            "Token x",
            "Bearer: x",
            "Bearer=x",
            "Bearer\tx",
            "Bearer null",
            "Bearer undefined",
            "Bearer tl_",
            "Bearer a.b.c",
            "Bearer ..",
            "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.",
            "Bearer tl_" + "a".repeat(43),
            "Bearer tl_" + "a".repeat(5_000));

    /** What is asked about. */
    record Scene(String topic, String group, String token, String letter, String message, String key) {

        String of(String parameter, Route route) {
            return switch (parameter) {
                case "topic" -> topic;
                case "group" -> group;
                case "token" -> token;
                case "id" ->
                    route.template().contains("dead-letters")
                            ? letter
                            : route.template().startsWith("/v1/keys") ? key : message;
                default -> throw new AssertionError("{" + parameter + "} of " + route + ": say here what that is");
            };
        }
    }

    /**
     * A request.
     *
     * @param part what kind of thing is odd
     * @param legal whether it is to be taken
     * @param fields what a refusal names, one of these; empty: nothing
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Odd(String part, String head, byte[] body, boolean legal, Set<String> fields) {

        /** Whether it has nothing to do with what the route takes. */
        boolean isJunk() {
            return part.equals("junk");
        }

        @Override
        public String toString() {
            return HostileInputs.show(
                    head.lines().findFirst().orElse("") + " " + new String(body, StandardCharsets.UTF_8));
        }
    }

    private final Route route;
    private final Scene witness;
    private final Scene scratch;
    private final Scene elsewhere;
    private final String key;
    private final List<GoodRequests> bodies;
    private final Map<String, Odd> all = new LinkedHashMap<>();
    private int made;

    HostileRequests(Route route, Scene witness, Scene scratch, Scene elsewhere, String key) {
        this.route = route;
        this.witness = witness;
        this.scratch = scratch;
        this.elsewhere = elsewhere;
        this.key = key;
        this.bodies = GoodRequests.of(route);
    }

    /** Whether it takes anything but a path. */
    static boolean takesMore(Route route) {
        return !route.query().isEmpty() || !route.bodies().isEmpty();
    }

    Collection<Odd> all() {
        paths();
        route.query().forEach(this::query);
        if (route.verb().isPresent()) {
            authorizations();
        }
        route.headers().forEach(header -> header(header.name()));
        bodies();
        junk();
        return all.values();
    }

    /** One in which nothing is bad, of what may be changed. */
    Odd good() {
        String body = bodies.isEmpty() ? "" : bodies.getFirst().json();
        if (route.toString().equals("POST /v1/topics/{topic}/messages")) {
            body = "{\"text\": \"good\"}";
        }
        return new Odd("good", head(path(scratch, "", ""), Exchange.JSON, ""), bytes(body), true, Set.of());
    }

    // ---- paths ----

    private void paths() {
        for (String part : route.parts()) {
            if (part.startsWith("{")) {
                String name = part.substring(1, part.length() - 1);
                for (String text : name.equals("id") ? HostileValues.numbersAsText() : HostileInputs.names()) {
                    path(name, text);
                }
                NO_PERCENT.forEach(raw -> ask("path", path(witness, name, raw), Set.of()));
            }
        }
    }

    private void path(String name, String text) {
        boolean small = text.matches("-?[0-9]{1,4}"); // there may be one
        if (name.equals("id") && small && !text.equals("0")) {
            return;
        }
        boolean makes = name.equals("group") && route.method().equals("PUT");
        boolean explains = name.equals("id")
                && route.method().equals("GET")
                && route.template().contains("explain");
        boolean legal = (makes && HostileValues.isName(text) && !text.equals(ConsumerGroup.SHARED))
                || (explains && HostileValues.isNumber(text, Long.MIN_VALUE, Long.MAX_VALUE));
        String encoded = encoded(text);
        Set<String> named = text.isEmpty() || text.indexOf(0) >= 0 || encoded.length() > LONG
                ? Set.of()
                : HostileValues.isWhole(text) ? Set.of(name) : Set.of();
        add("path", head(path(legal ? scratch : witness, name, encoded), Exchange.JSON, ""), goodBody(), legal, named);
    }

    private String path(Scene scene, String parameter, String raw) {
        StringBuilder path = new StringBuilder();
        for (String part : route.parts()) {
            path.append('/');
            if (part.startsWith("{")) {
                String name = part.substring(1, part.length() - 1);
                path.append(name.equals(parameter) ? raw : scene.of(name, route));
            } else {
                path.append(part);
            }
        }
        return path.toString();
    }

    // ---- queries ----

    private void query(Parameter parameter) {
        if (parameter.isNumber()) {
            long most = switch (parameter.name()) {
                case "partition" -> 0;
                case "from" -> 20; // so many there are
                default -> parameter.most();
            };
            HostileValues.numbersAsText()
                    .forEach(text -> query(parameter, text, HostileValues.isNumber(text, parameter.least(), most)));
        } else if (!parameter.words().isEmpty()) {
            HostileInputs.names().forEach(text -> query(parameter, text, false));
            parameter.words().forEach(word -> query(parameter, word.equals("now") ? "Now" : word + "x", false));
        } else if (parameter.name().equals("lease")) {
            HostileValues.durationsAsText()
                    .forEach(text -> query(
                            parameter, text, HostileValues.isDuration(text, Duration.ofNanos(1), Duration.ofDays(1))));
        } else {
            Predicate<String> rule = route.template().equals("/v1/topics") ? HostileValues::isName : nothing -> false;
            HostileInputs.names().forEach(text -> query(parameter, text, rule.test(text)));
        }
        NO_PERCENT.forEach(raw -> ask(
                "query",
                path(witness, "", "") + "?" + parameter.name() + "=" + raw,
                Set.of("query", parameter.name())));
        ask(
                "query",
                path(witness, "", "") + "?" + parameter.name() + "=1&" + parameter.name() + "=1",
                Set.of(parameter.name()));
    }

    private void query(Parameter parameter, String text, boolean legal) {
        String encoded = encoded(text);
        Set<String> named = encoded.length() > LONG
                ? Set.of()
                : HostileValues.isWhole(text) ? Set.of(parameter.name()) : Set.of("query", parameter.name());
        add(
                "query",
                head(
                        path(legal ? scratch : witness, "", "") + "?" + parameter.name() + "=" + encoded,
                        Exchange.JSON,
                        ""),
                goodBody(),
                legal,
                named);
    }

    // ---- headers ----

    private void authorizations() {
        List<String> bad = new ArrayList<>(SCHEMES);
        HostileInputs.names().forEach(name -> bad.add("Bearer " + name));
        for (int i = 0; i < key.length(); i++) {
            bad.add("Bearer " + key.substring(0, i) + key.substring(i + 1));
            bad.add("Bearer " + key.substring(0, i) + "~" + key.substring(i + 1));
        }
        bad.addAll(
                List.of(key, "Bearer Bearer " + key, "Bearer " + key + "a", "Basic " + key, "Bearer \"" + key + "\""));
        for (String value : bad) {
            String line = route.method() + " " + path(witness, "", "") + " HTTP/1.1\r\nHost: localhost\r\n"
                    + "Content-Type: application/json\r\nAuthorization: " + latin(value) + "\r\n";
            add("header", line, goodBody(), false, isField(value) ? Set.of("Authorization") : Set.of());
        }
    }

    private void header(String name) {
        for (String text : HostileInputs.names()) {
            boolean legal = isField(text)
                    && switch (name) {
                        case "Idempotency-Key" -> isKey(text);
                        case "Last-Event-ID" -> trimmed(text).isEmpty();
                        case "traceparent" -> true; // what can not be read is passed over, as W3C has it
                        default -> throw new AssertionError("header " + name + ": say here what is good");
                    };
            add(
                    "header",
                    head(path(legal ? scratch : witness, "", ""), Exchange.JSON, name + ": " + latin(text) + "\r\n"),
                    goodBody(),
                    legal,
                    isField(text) ? Set.of(name) : Set.of());
        }
        if (!name.equals("traceparent")) {
            add(
                    "header",
                    head(path(witness, "", ""), Exchange.JSON, name + ": a\r\n" + name + ": b\r\n"),
                    goodBody(),
                    false,
                    Set.of(name));
        }
        if (name.equals("Last-Event-ID")) {
            for (String text : List.of("x", "1-", "0:0:0", "0-0-0-0", "1;2", "0=0", "1.5", "=", "0:", ":0", "a:b")) {
                add(
                        "header",
                        head(path(witness, "", ""), Exchange.JSON, name + ": " + text + "\r\n"),
                        goodBody(),
                        false,
                        Set.of(name));
            }
        }
    }

    /** Headers are read as Latin-1: each byte of UTF-8 is a character there. */
    private static boolean isKey(String text) {
        return !latin(trimmed(text)).isBlank() && latin(trimmed(text)).getBytes(StandardCharsets.UTF_8).length <= 1_024;
    }

    /** Whether it can stand in a header at all. */
    private static boolean isField(String text) {
        return text.chars().noneMatch(c -> (c < ' ' && c != '\t') || c == 0x7f)
                && latin(text).length() <= LONG;
    }

    private static String trimmed(String text) {
        return text.replaceAll("^[ \t]+|[ \t]+$", "");
    }

    // ---- bodies ----

    private byte[] goodBody() {
        return good().body;
    }

    private void bodies() {
        if (route.bodies().isEmpty()) {
            return;
        }
        for (String type : route.bodies().keySet()) {
            boolean lines = type.equals(Exchange.LINES);
            for (String body : NO_JSON) {
                if (!lines || !body.isBlank()) {
                    body("body", type, bytes(body), Set.of());
                }
            }
            for (byte[] body : HostileInputs.payloads()) {
                boolean object = new String(body, StandardCharsets.UTF_8).endsWith("{}");
                if (!object && (!lines || body.length > 0)) {
                    body("body", type, body, Set.of());
                }
            }
            for (String name : HostileInputs.names()) {
                body("body", type, bytes("{" + HostileValues.quoted(name) + ": 1}"), Set.of());
            }
            bodies.forEach(good -> fields(good, type));
        }
        List<String> types = new ArrayList<>(TYPES);
        types.addAll(HostileInputs.names());
        for (String type : types) {
            add(
                    "header",
                    head(path(witness, "", ""), latin(type), ""),
                    goodBody(),
                    false,
                    isField(type) ? Set.of("Content-Type") : Set.of());
        }
    }

    private void fields(GoodRequests good, String type) {
        good.fields().forEach((field, values) -> {
            for (HostileValues.Value value : values) {
                String body = good.with(field, value.json());
                boolean fits = body.length() <= Api.MOST_BYTES;
                if (value.legal() && fits) {
                    Scene scene = good.elsewhere() ? elsewhere : scratch;
                    String unique = body.replace("\"name\": \"no\"", "\"name\": \"made-" + made++ + "\"");
                    String own = route.method().equals("PUT") ? "made-" + made++ : scene.group();
                    add("body", head(path(scene, "group", own), type, ""), bytes(unique), true, Set.of());
                } else {
                    body("body", type, bytes(body), fits && !isDeep(value.json()) ? Set.of(field) : Set.of());
                }
            }
            for (String broken : HostileValues.BROKEN) {
                body("body", type, bytes(good.with(field, broken)), Set.of());
            }
            String doubled = "{\"" + field + "\": null, \"" + field + "\": null}";
            body("body", type, bytes(doubled), Set.of(field));
            body("body", type, bytes(good.with(field + "x", "1")), Set.of(field + "x"));
            body(
                    "body",
                    type,
                    bytes(good.with(field.toUpperCase(Locale.ROOT), "1")),
                    Set.of(field.toUpperCase(Locale.ROOT)));
            for (int[] wrong :
                    new int[][] {{0xff}, {0xc0, 0x80}, {0xed, 0xa0, 0x80}, {0xf4, 0x90, 0x80, 0x80}, {0xe2, 0x82}}) {
                ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                bytes.writeBytes(bytes("{\"" + field + "\": \""));
                Arrays.stream(wrong).forEach(bytes::write);
                bytes.writeBytes(bytes("\"}"));
                body("body", type, bytes.toByteArray(), Set.of());
            }
        });
    }

    /** Too deep to say where. */
    private static boolean isDeep(String json) {
        return json.startsWith("[[[") || json.startsWith("{\"a\":{\"a\":") || json.matches("9{101,}");
    }

    private void body(String part, String type, byte[] body, Set<String> fields) {
        add(part, head(path(witness, "", ""), type, ""), body, false, fields);
    }

    // ---- what has nothing to do with the route ----

    private void junk() {
        String path = path(witness, "", "");
        for (String name : HostileInputs.names()) {
            if (HostileValues.isName(name) && encoded(name).length() < LONG) {
                ask("junk", path + "?" + encoded(name) + "=1", Set.of(name));
            }
        }
        for (String method :
                List.of("TRACE", "BREW", "OPTIONS", "PROPFIND", "get", "CONNECTED", "G\u00cbT", "M-SEARCH")) {
            add("junk", head(path, Exchange.JSON, "").replaceFirst("^[A-Z]+", method), bytes(""), false, Set.of());
        }
        NO_PERCENT.forEach(raw -> ask("junk", path + "/" + raw, Set.of()));
        for (String more : List.of("/x/y/z/a/b", "//", "/%2F/x/y/z", "/../x/y/z/..", ";a=b/x/y")) {
            ask("junk", path + more, Set.of());
        }
    }

    // ---- how they are written ----

    private void ask(String part, String path, Set<String> fields) {
        add(part, head(path, Exchange.JSON, ""), goodBody(), false, fields);
    }

    private void add(String part, String head, byte[] body, boolean legal, Set<String> fields) {
        all.putIfAbsent(head + new String(body, StandardCharsets.ISO_8859_1), new Odd(part, head, body, legal, fields));
    }

    private String head(String path, String type, String more) {
        return route.method() + " " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: " + type
                + "\r\nAuthorization: Bearer " + key + "\r\n" + more;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** UTF-8; half a character, which has none, as if it had. */
    private static byte[] utf8(String text) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        text.codePoints().forEach(c -> {
            if (c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE) {
                bytes.write(0xe0 | (c >> 12));
                bytes.write(0x80 | ((c >> 6) & 0x3f));
                bytes.write(0x80 | (c & 0x3f));
            } else {
                bytes.writeBytes(bytes(Character.toString(c)));
            }
        });
        return bytes.toByteArray();
    }

    /** A text whose characters are the bytes of this one. */
    private static String latin(String text) {
        return new String(utf8(text), StandardCharsets.ISO_8859_1);
    }

    static String encoded(String text) {
        StringBuilder encoded = new StringBuilder();
        for (byte each : utf8(text)) {
            boolean plain = each == '-' || each == '_' || each == '~' || (each > 0 && Character.isLetterOrDigit(each));
            encoded.append(plain ? "" + (char) each : "%%%02X".formatted(each));
        }
        return encoded.toString();
    }
}
