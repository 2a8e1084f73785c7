package dev.trunkline.testing;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import javax.sql.DataSource;

/** One statement on a connection of its own, wherever that leads. */
public final class Sql {

    private Sql() {}

    /** Runs a statement and returns its rows, columns joined by "|". */
    public static List<String> run(DataSource source, String sql, Object... parameters) throws SQLException {
        try (Connection connection = source.getConnection()) {
            return TestDatabase.query(connection, sql, parameters);
        }
    }
}
