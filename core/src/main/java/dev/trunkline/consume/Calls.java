package dev.trunkline.consume;

import dev.trunkline.database.Database;
import dev.trunkline.database.Statements;
import dev.trunkline.database.Texts;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import org.jspecify.annotations.Nullable;

/** Calls statements of {@code consume.sql} by name. */
record Calls(Database database, Statements statements) {

    /** Makes something of the rows. */
    interface Reading<R> {
        R of(ResultSet row) throws SQLException;
    }

    <R> R call(String name, Reading<R> reading, @Nullable Object... parameters) {
        return database.call(connection -> on(connection, name, reading, parameters));
    }

    /** For statements whose one row holds a yes or a no. */
    boolean ask(String name, @Nullable Object... parameters) {
        return call(name, Calls::yes, parameters);
    }

    /** As {@link #ask}, in somebody's transaction. */
    boolean ask(Connection connection, String name, @Nullable Object... parameters) throws SQLException {
        return on(connection, name, Calls::yes, parameters);
    }

    void run(String name, @Nullable Object... parameters) {
        call(name, ResultSet::next, parameters);
    }

    private static boolean yes(ResultSet row) throws SQLException {
        row.next();
        return row.getBoolean(1);
    }

    private <R> R on(Connection connection, String name, Reading<R> reading, @Nullable Object... parameters)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(statements.get(name))) {
            for (int i = 0; i < parameters.length; i++) {
                bind(connection, statement, i + 1, parameters[i]);
            }
            try (ResultSet row = statement.executeQuery()) {
                return reading.of(row);
            }
        }
    }

    private static void bind(Connection connection, PreparedStatement statement, int at, @Nullable Object parameter)
            throws SQLException {
        switch (parameter) {
            case Integer[] ints -> statement.setArray(at, connection.createArrayOf("int4", ints));
            case Long[] longs -> statement.setArray(at, connection.createArrayOf("int8", longs));
            case String[] texts -> statement.setArray(at, connection.createArrayOf("text", Texts.require(texts)));
            case String text -> statement.setString(at, Texts.require(text));
            case Boolean[] flags -> statement.setArray(at, connection.createArrayOf("bool", flags));
            case byte[][] bytes -> statement.setArray(at, connection.createArrayOf("bytea", bytes));
            case null -> statement.setNull(at, Types.NULL);
            default -> statement.setObject(at, parameter);
        }
    }
}
