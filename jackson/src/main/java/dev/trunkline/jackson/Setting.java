package dev.trunkline.jackson;

import dev.trunkline.Start;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.dataformat.yaml.YAMLAnchorReplayingFactory;
import tools.jackson.dataformat.yaml.YAMLMapper;

/**
 * A place in a configuration file and what is there, if anything. What is refused here is named by its place and not shown: it may be a
 * password.
 */
final class Setting {

    private static final YAMLMapper MAPPER = YAMLMapper.builder(new YAMLAnchorReplayingFactory())
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .build();
    /** A plain beginning; a name, with or without a default in which no other begins; or what only looks like one. */
    private static final Pattern PLACEHOLDER =
            Pattern.compile("\\$\\$\\{|\\$\\{(?:([A-Za-z_]\\w*)(?::((?:(?!\\$\\{)[^}])*))?\\})?");

    private final String path;
    private final JsonNode node;
    private final Function<String, @Nullable String> environment;

    private Setting(String path, JsonNode node, Function<String, @Nullable String> environment) {
        this.path = path;
        this.node = node;
        this.environment = environment;
    }

    static Setting parse(String yaml, Function<String, @Nullable String> environment) {
        try {
            return new Setting("", MAPPER.readTree(yaml), environment);
        } catch (JacksonException e) {
            // Neither its message nor itself as the cause: they repeat lines of the file.
            throw new IllegalArgumentException(unreadable(e));
        }
    }

    private static String unreadable(JacksonException e) {
        String line = e.getLocation() == null ? "" : " (line " + e.getLocation().getLineNr() + ")";
        if (e.getOriginalMessage().startsWith("Duplicate") && e.processor() instanceof JsonParser parser) {
            String pointer =
                    parser.streamReadContext().pathAsPointer().toString().replaceAll("(/password)/.*", "$1");
            return pointer.substring(1).replaceAll("/(\\d+)", "[$1]").replace('/', '.') + line
                    + " is there twice: leave one out";
        }
        return "the file is not one document of YAML" + line + ": check quotes, colons and indentation";
    }

    Setting at(String key) {
        return new Setting(path.isEmpty() ? key : path + "." + key, node.path(key), environment);
    }

    boolean isThere() {
        return !node.isMissingNode();
    }

    /** Refuses what is no mapping, and one with other keys than these, which are separated by spaces. */
    Setting known(String keys) {
        List<String> all = List.of(keys.split(" "));
        if (!node.isObject()) {
            throw must("a mapping with keys of " + all);
        }
        for (String key : node.propertyNames()) {
            if (!all.contains(key)) {
                String nearest = Collections.min(all, Comparator.comparingInt(known -> distance(key, known)));
                throw at(key).refuse("is unknown: did you mean " + nearest + "? Known are " + all);
            }
            if (node.path(key).isNull()) {
                throw at(key).refuse("has no value: give it one, or leave the key out");
            }
        }
        return this;
    }

    /** How many letters must be put in, left out or changed, whatever their case. */
    private static int distance(String one, String other) {
        int[] row = IntStream.rangeClosed(0, other.length()).toArray();
        for (int i = 1; i <= one.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= other.length(); j++) {
                int changed = diagonal + (one.regionMatches(true, i - 1, other, j - 1, 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(changed, Math.min(row[j], row[j - 1]) + 1);
            }
        }
        return row[other.length()];
    }

    /** The elements of a list; none if it is absent. */
    List<Setting> list() {
        if (isThere() && !node.isArray()) {
            throw must("a list");
        }
        return IntStream.range(0, node.size())
                .mapToObj(i -> new Setting(path + "[" + i + "]", node.path(i), environment))
                .toList();
    }

    /** What the key says, if it is there. */
    <V> V read(String key, Function<Setting, V> reader, V otherwise) {
        return at(key).isThere() ? reader.apply(at(key)) : otherwise;
    }

    /** The target with what the key says, if it is there. */
    <T, V> T with(String key, Function<Setting, V> reader, T target, BiFunction<T, V, T> setter) {
        if (!at(key).isThere()) {
            return target;
        }
        V value = reader.apply(at(key));
        return at(key).checked(() -> setter.apply(target, value));
    }

    /** Refuses, by the name of this place, what the library refuses. */
    <V> V checked(Supplier<V> use) {
        try {
            return use.get();
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(path + ": " + e.getMessage(), e);
        }
    }

    String text() {
        if (!node.isString()) {
            throw must("text, in quotes if it looks like a number");
        }
        return PLACEHOLDER.matcher(node.stringValue()).replaceAll(match -> Matcher.quoteReplacement(resolve(match)));
    }

    private String resolve(MatchResult match) {
        if (match.group().startsWith("$$")) {
            return "${";
        }
        String name = match.group(1);
        if (name == null) {
            throw refuse("has a ${ that begins no placeholder: use ${NAME}, ${NAME:default}, or $${ for a plain ${");
        }
        String value = environment.apply(name);
        String found = value == null ? match.group(2) : value;
        if (found == null) {
            throw refuse("needs the environment variable " + name + ": set it, or give a default as in ${" + name
                    + ":default}");
        }
        return found;
    }

    String name() {
        String name = text();
        if (name.isEmpty()) {
            throw must("text that is not empty");
        }
        return name;
    }

    String jdbcUrl() {
        String url = text();
        IllegalArgumentException refusal = must("a URL such as jdbc:postgresql://host:5432/database");
        if (!url.startsWith("jdbc:postgresql:")) {
            throw refusal;
        }
        try {
            DriverManager.getDriver(url);
            return url;
        } catch (SQLException e) {
            refusal.initCause(e);
            throw refusal;
        }
    }

    int number() {
        String digits = plain();
        if (!digits.matches("-?[0-9]{1,9}")) {
            throw must("a whole number, not in quotes, of at most 9 digits");
        }
        return Integer.parseInt(digits);
    }

    int number(int least, int most) {
        int number = number();
        if (number < least || number > most) {
            throw must("from " + least + " to " + most);
        }
        return number;
    }

    Duration millis(int least) {
        return Duration.ofMillis(number(least, 999_999_999));
    }

    boolean flag() {
        return switch (plain()) {
            case "true" -> true;
            case "false" -> false;
            default -> throw must("true or false, not in quotes");
        };
    }

    /** What is written without quotes, or what placeholders stand for. */
    private String plain() {
        if (!node.isString()) {
            return node.asString("");
        }
        return text().equals(node.stringValue()) ? "" : text();
    }

    <V> V oneOf(Map<String, V> choices) {
        V choice = node.isString() ? choices.get(text()) : null;
        if (choice == null) {
            throw must("one of " + String.join(", ", new TreeSet<>(choices.keySet())));
        }
        return choice;
    }

    /** A place to start. */
    Start start() {
        try {
            return Start.parse(node.isString() ? text() : "");
        } catch (IllegalArgumentException e) {
            throw must("now, beginning, offset:N, message:ID, or a time with its zone");
        }
    }

    private IllegalArgumentException must(String be) {
        return refuse(isThere() ? "must be " + be : "is missing: it must be " + be);
    }

    IllegalArgumentException refuse(String why) {
        return new IllegalArgumentException((path.isEmpty() ? "the file" : path) + " " + why);
    }
}
