package dev.trunkline.benchmarks.database;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Statements, each under a line {@code -- name: itsName} of a file, for one schema of Trunkline. */
public final class Sql {

    private static final Pattern SCHEMA = Pattern.compile("\\btrunkline\\.");
    private static final Map<String, String> OF_SCENARIOS = read(Sql.class, "/dev/trunkline/benchmarks/benchmarks.sql");

    private final Map<String, String> statements;
    private final String schema;

    private Sql(Map<String, String> statements, String schema) {
        this.statements = statements;
        this.schema = schema;
    }

    /** Those of the scenarios. */
    public Sql(String schema) {
        this(OF_SCENARIOS, schema);
    }

    /** Those of a file beside a class. */
    public static Sql beside(Class<?> owner, String file) {
        return new Sql(read(owner, file), "trunkline");
    }

    public String get(String name) {
        String statement = statements.get(name);
        if (statement == null) {
            throw new IllegalArgumentException("no statement " + name + ", only " + statements.keySet());
        }
        return SCHEMA.matcher(statement).replaceAll(schema + ".");
    }

    /** A statement on a table or an object whose name, or the end of it, is {@code #} in the text. */
    public String get(String name, Object part) {
        return get(name).replace("#", part.toString());
    }

    private static Map<String, String> read(Class<?> owner, String file) {
        String text;
        try (InputStream in = owner.getResourceAsStream(file)) {
            if (in == null) {
                throw new IllegalStateException("no " + file + " beside " + owner.getName());
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
