package dev.trunkline.benchmarks;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** Statements that are not measured. */
final class Query {

    private Query() {}

    static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** The first column of all rows. */
    static List<String> texts(Connection connection, String sql, Object... parameters) throws SQLException {
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

    static long number(Connection connection, String sql, Object... parameters) throws SQLException {
        return Long.parseLong(texts(connection, sql, parameters).getFirst());
    }
}
