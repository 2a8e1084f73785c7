package dev.trunkline.benchmarks;

import dev.trunkline.benchmarks.database.Query;
import dev.trunkline.benchmarks.database.Sql;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** The tables of a schema, as the database sees them. Not for several threads at once. */
final class Tables implements AutoCloseable {

    private static final int WORTH_A_LOOK = 1_000;
    private static final Sql SQL = new Sql("");

    private final Connection connection;
    private final String schema;

    /** The table with the largest part of dead rows, in per cent of all its rows. */
    record Deadest(String table, double percent) {
        static final Deadest NONE = new Deadest("none", 0);
    }

    Tables(Workbench bench, String schema) throws SQLException {
        this.connection = bench.address().connect();
        this.schema = schema;
    }

    /** With their indexes. */
    long bytes() throws SQLException {
        return Query.number(connection, SQL.get("schemaBytes"), schema);
    }

    /** Small tables do not count. */
    Deadest deadest() throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(SQL.get("deadest"))) {
            statement.setString(1, schema);
            statement.setInt(2, WORTH_A_LOOK);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? new Deadest(row.getString(1), row.getDouble(2)) : Deadest.NONE;
            }
        }
    }

    long walPosition() throws SQLException {
        return Query.number(connection, SQL.get("walPosition"));
    }

    /** Vacuums what autovacuum would take up if it came now. */
    void vacuum() throws SQLException {
        for (String table : Query.texts(connection, SQL.get("dueForVacuum"), schema)) {
            Query.execute(connection, SQL.get("vacuum", table));
        }
    }

    @Override
    public void close() throws SQLException {
        connection.close();
    }
}
