package dev.trunkline.benchmarks;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicLong;

/** Inserts into a plain table shaped like a segment, on a connection of its own, one commit for each call. */
final class RawInsert {

    private static final AtomicLong FRESH = new AtomicLong();

    private RawInsert() {}

    /** Arrays, one multi-row insert from them. */
    static Crew.Worker unnest(Connection connection, String sql, int rows) throws SQLException {
        PreparedStatement statement = connection.prepareStatement(sql);
        return new OnConnection(connection) {
            @Override
            public long work() throws SQLException {
                long first = FRESH.getAndAdd(rows);
                Long[] ids = new Long[rows];
                Integer[] partitions = new Integer[rows];
                String[] keys = new String[rows];
                byte[][] payloads = new byte[rows][];
                for (int i = 0; i < rows; i++) {
                    ids[i] = first + i;
                    partitions[i] = Samples.partition();
                    keys[i] = Samples.key();
                    payloads[i] = Samples.payload();
                }
                statement.setString(1, Samples.CONTENT_TYPE);
                statement.setArray(2, connection.createArrayOf("int8", ids));
                statement.setArray(3, connection.createArrayOf("int4", partitions));
                statement.setArray(4, connection.createArrayOf("text", keys));
                statement.setArray(5, connection.createArrayOf("bytea", payloads));
                return statement.executeUpdate();
            }
        };
    }

    /** A JDBC batch, which the driver makes multi-row inserts of. */
    static Crew.Worker batch(Connection connection, String sql, int rows) throws SQLException {
        PreparedStatement statement = connection.prepareStatement(sql);
        return new OnConnection(connection) {
            @Override
            public long work() throws SQLException {
                for (int i = 0; i < rows; i++) {
                    bind(statement);
                    statement.addBatch();
                }
                return statement.executeBatch().length;
            }
        };
    }

    /** One row. */
    static Crew.Worker single(Connection connection, String sql) throws SQLException {
        PreparedStatement statement = connection.prepareStatement(sql);
        return new OnConnection(connection) {
            @Override
            public long work() throws SQLException {
                bind(statement);
                return statement.executeUpdate();
            }
        };
    }

    private static void bind(PreparedStatement statement) throws SQLException {
        long id = FRESH.getAndIncrement();
        statement.setLong(1, id);
        statement.setLong(2, id);
        statement.setLong(3, id);
        statement.setInt(4, Samples.partition());
        statement.setString(5, Samples.key());
        statement.setString(6, Samples.CONTENT_TYPE);
        statement.setBytes(7, Samples.payload());
    }

    /** A worker that closes its connection, and with it the statements. */
    abstract static class OnConnection implements Crew.Worker {
        private final Connection connection;

        OnConnection(Connection connection) {
            this.connection = connection;
        }

        @Override
        public void close() throws SQLException {
            connection.close();
        }
    }
}
