package dev.trunkline.benchmarks.database;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** Statements that are not measured. */
public final class Query {

    private Query() {}

    public static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** One after the other, each in a transaction of its own. */
    public static void execute(Address address, String... statements) throws SQLException {
        try (Connection connection = address.connect()) {
            for (String statement : statements) {
                execute(connection, statement);
            }
        }
    }

    /** The first column of all rows. */
    public static List<String> texts(Connection connection, String sql, Object... parameters) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < parameters.length; i++) {
                statement.setObject(i + 1, parameters[i]);
            }
            List<String> texts = new ArrayList<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    texts.add(String.valueOf(row.getString(1)));
                }
            }
            return texts;
        }
    }

    public static long number(Connection connection, String sql, Object... parameters) throws SQLException {
        return Long.parseLong(texts(connection, sql, parameters).getFirst());
    }
}
