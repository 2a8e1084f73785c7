package dev.trunkline.benchmarks;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The statements of {@code benchmarks.sql}, each under a line {@code -- name: itsName}, for one schema of Trunkline. */
record Sql(String schema) {

    private static final Pattern SCHEMA = Pattern.compile("\\btrunkline\\.");
    private static final Map<String, String> STATEMENTS = read();

    String get(String name) {
        String statement = STATEMENTS.get(name);
        if (statement == null) {
            throw new IllegalArgumentException("no statement " + name + ", only " + STATEMENTS.keySet());
        }
        return SCHEMA.matcher(statement).replaceAll(schema + ".");
    }

    /** A statement on a table or an object whose name, or the end of it, is {@code #} in the text. */
    String get(String name, Object part) {
        return get(name).replace("#", part.toString());
    }

    private static Map<String, String> read() {
        String text;
        try (InputStream in = Sql.class.getResourceAsStream("benchmarks.sql")) {
            if (in == null) {
                throw new IllegalStateException("no benchmarks.sql beside " + Sql.class.getName());
            }
            text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Map<String, String> statements = new HashMap<>();
        Matcher one =
                Pattern.compile("(?ms)^-- name: (\\w+)$(.*?)(?=^-- name: |\\z)").matcher(text);
        while (one.find()) {
            statements.put(one.group(1), one.group(2).strip());
        }
        return statements;
    }
}
