package dev.trunkline.database;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * SQL out of {@code .sql} files. A file holds statements, each under a line {@code -- name: itsName}, or is a script as a
 * whole. Files are written for the schema {@code trunkline}; another name is put in its place when they are read.
 */
public final class Statements {

    private static final Pattern SCHEMA = Pattern.compile("\\btrunkline(?=\\b|_(owner|app|reader)\\b)");
    private static final Pattern NAME = Pattern.compile("(?m)^-- name: (\\w+)$");

    private final Map<String, String> byName;

    private Statements(Map<String, String> byName) {
        this.byName = byName;
    }

    /** The named statements of a file beside a class. */
    public static Statements beside(Class<?> owner, String file, String schema) {
        String text = script(owner, file, schema);
        Map<String, String> statements = new HashMap<>();
        var names = NAME.matcher(text);
        int bodyStart = -1;
        String name = "";
        while (names.find()) {
            if (bodyStart >= 0) {
                statements.put(name, text.substring(bodyStart, names.start()).strip());
            }
            name = names.group(1);
            bodyStart = names.end();
        }
        statements.put(name, text.substring(bodyStart).strip());
        return new Statements(statements);
    }

    /** A whole file beside a class. */
    public static String script(Class<?> owner, String file, String schema) {
        try (InputStream in = owner.getResourceAsStream(file)) {
            if (in == null) {
                throw new IllegalStateException("no " + file + " beside " + owner.getName());
            }
            return inSchema(new String(in.readAllBytes(), StandardCharsets.UTF_8), schema);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String inSchema(String text, String schema) {
        return SCHEMA.matcher(text).replaceAll(schema);
    }

    public String get(String name) {
        String statement = byName.get(name);
        if (statement == null) {
            throw new IllegalArgumentException("no statement " + name + ", only " + byName.keySet());
        }
        return statement;
    }

    /** A statement on a numbered table: {@code #} in its text stands for the number. */
    public String get(String name, int number) {
        return get(name).replace("#", Integer.toString(number));
    }

    /** All statements, for checking them. */
    public Map<String, String> all() {
        return Map.copyOf(byName);
    }
}
