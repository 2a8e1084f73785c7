package dev.trunkline.server;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/** A statement out of a {@code .sql} file, where it stands under a line {@code -- name: itsName}. */
public final class Sql {

    private Sql() {}

    /** The statement of that name in a file beside a class. */
    public static String of(Class<?> owner, String file, String name) {
        var statement = Pattern.compile("(?ms)^-- name: " + name + "$(.*?)(?=^-- name: |\\z)")
                .matcher(text(owner, file));
        if (!statement.find()) {
            throw new IllegalArgumentException("no statement " + name + " in " + file);
        }
        return statement.group(1).strip();
    }

    /** As above, for a file that is written for the schema {@code trunkline}: another name is put in its place. */
    public static String of(Class<?> owner, String file, String name, String schema) {
        return of(owner, file, name).replace("trunkline.", schema + ".");
    }

    private static String text(Class<?> owner, String file) {
        try (InputStream in = owner.getResourceAsStream(file)) {
            if (in == null) {
                throw new IllegalArgumentException("no " + file + " beside " + owner.getName());
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
