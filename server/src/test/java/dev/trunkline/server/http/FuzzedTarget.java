package dev.trunkline.server.http;

import dev.trunkline.rig.HostileInputs;
import java.util.List;
import java.util.random.RandomGenerator;

/** The first line of a request with its path or query changed. It stays one line of three parts, unless that is what is changed. */
final class FuzzedTarget {

    private static final List<String> PIECES = List.of(
            "%",
            "%2",
            "%2F",
            "%2f",
            "%00",
            "%0a",
            "%ff",
            "%C0%AF",
            "%ED%A0%80",
            "%25",
            "%u0041",
            "..",
            ".",
            "/",
            "//",
            "/./",
            "/../",
            ";",
            ";a=b",
            "\\",
            "#",
            "?",
            "+",
            "*",
            "~",
            "'",
            "\"",
            "<",
            "|",
            "^",
            "`",
            "\t",
            " ",
            "\u00ff",
            "\u0000",
            "x".repeat(300),
            "x".repeat(2_000),
            "%F0%9F%A6%84".repeat(64));
    private static final List<String> NAMES = HostileInputs.names().stream()
            .map(HostileRequests::encoded)
            .filter(name -> name.length() < 2_000)
            .toList();
    private static final List<String> VALUES = List.of(
            "",
            "0",
            "1",
            "-1",
            "00",
            "1.5",
            "1e3",
            "2147483648",
            "9223372036854775807",
            "9223372036854775808",
            "null",
            "now",
            "beginning",
            "LOW",
            "low",
            "PT1S",
            "-PT1S",
            "PT1H",
            "%00",
            "%",
            "a=b",
            "%26",
            "true",
            "NaN");

    private FuzzedTarget() {}

    static String change(String line, Route route, RandomGenerator random) {
        int from = line.indexOf(' ') + 1;
        int to = Math.max(from, line.lastIndexOf(' '));
        String target = line.substring(from, to);
        String changed = switch (random.nextInt(8)) {
            case 0 -> piece(target, random);
            case 1 -> encoded(target, random);
            case 2 -> part(target, NAMES.get(random.nextInt(NAMES.size())), random);
            case 3 -> part(target, VALUES.get(random.nextInt(VALUES.size())), random);
            case 4 -> cut(target, random);
            default -> query(target, route, random);
        };
        return line.substring(0, from) + changed.replaceAll("[\r\n]", "") + line.substring(to);
    }

    private static String piece(String target, RandomGenerator random) {
        int at = random.nextInt(target.length() + 1);
        return target.substring(0, at) + PIECES.get(random.nextInt(PIECES.size())) + target.substring(at);
    }

    /** The same, said in another way. */
    private static String encoded(String target, RandomGenerator random) {
        if (target.length() < 2) {
            return target;
        }
        int at = 1 + random.nextInt(target.length() - 1);
        return target.substring(0, at) + "%%%02x".formatted(target.charAt(at) & 0xff) + target.substring(at + 1);
    }

    private static String part(String target, String name, RandomGenerator random) {
        String[] parts = target.split("/", -1);
        parts[random.nextInt(parts.length)] = name;
        return "/" + String.join("/", parts).replaceFirst("^/", "");
    }

    private static String cut(String target, RandomGenerator random) {
        int from = random.nextInt(target.length() + 1);
        int to = Math.min(target.length(), from + 1 + random.nextInt(8));
        return target.substring(0, from) + target.substring(to);
    }

    private static String query(String target, Route route, RandomGenerator random) {
        int known = route.query().size();
        String name = known > 0 && random.nextInt(8) > 0
                ? route.query().get(random.nextInt(known)).name()
                : NAMES.get(random.nextInt(NAMES.size()));
        String value = VALUES.get(random.nextInt(VALUES.size()));
        return target + (target.indexOf('?') < 0 ? "?" : "&") + name + (random.nextInt(10) == 0 ? "" : "=") + value;
    }
}
