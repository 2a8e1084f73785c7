package dev.trunkline.benchmarks;

import dev.trunkline.benchmarks.database.Query;
import dev.trunkline.benchmarks.database.Sql;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * The table with a status that one would write first. Takers lock rows, handle them, mark them done, and commit: as with Trunkline, a
 * message is done after it was handled, and one whose taker dies is there for the next.
 */
final class TextbookQueue implements AutoCloseable {

    static final int BATCH = 100;
    static final String WORDS =
            "select … for update skip locked, then update … set status = 'done', %d rows a commit, 2 connections"
                    .formatted(BATCH);

    private static final int THREADS = 2;
    private static final int USED = 10_000;
    private static final long NAP = 1_000_000;
    private static final Sql SQL = new Sql("");

    private final Workbench bench;
    private final Connection connection;
    private final Crew takers;

    TextbookQueue(Workbench bench) throws Exception {
        this.bench = bench;
        this.connection = bench.address().connect();
        Query.execute(connection, SQL.get("dropQueue"));
        Query.execute(connection, SQL.get("createQueue"));
        this.takers = Crew.of(THREADS, () -> new Taker(bench.address().connect()));
    }

    /** Works off so many rows, and returns how many that were in a second. */
    double drain(int rows) throws Exception {
        empty();
        fill("new", rows);
        bench.settle();
        long began = System.nanoTime();
        takers.times(rows / BATCH);
        return rate(rows, began);
    }

    private double rate(long rows, long began) throws SQLException {
        long nanos = System.nanoTime() - began;
        Tally.require("left in the queue", 0, Query.number(connection, SQL.get("leftInQueue")));
        return rows * 1e9 / nanos;
    }

    /** As a queue that has been in use: all is done and analyzed, so that takers go by the index on the status. */
    private void empty() throws SQLException {
        Query.execute(connection, SQL.get("emptyQueue"));
        fill("done", USED);
        Query.execute(connection, SQL.get("analyzeQueue"));
    }

    private void fill(String status, int rows) throws SQLException {
        try (PreparedStatement fill = connection.prepareStatement(SQL.get("fillQueue"))) {
            fill.setString(1, status);
            fill.setBytes(2, Samples.payload());
            fill.setInt(3, rows);
            fill.executeUpdate();
        }
    }

    @Override
    public void close() throws SQLException {
        takers.close();
        connection.close();
    }

    private static final class Taker extends RawInsert.OnConnection {
        private final Connection connection;
        private final PreparedStatement take;
        private final PreparedStatement finish;

        Taker(Connection connection) throws SQLException {
            super(connection);
            this.connection = connection;
            connection.setAutoCommit(false);
            this.take = connection.prepareStatement(SQL.get("takeFromQueue", BATCH));
            this.finish = connection.prepareStatement(SQL.get("finishInQueue"));
        }

        @Override
        public long work() throws SQLException {
            List<Long> taken = new ArrayList<>(BATCH);
            try (ResultSet row = take.executeQuery()) {
                while (row.next()) {
                    if (!row.getString(2).isEmpty() && row.getBytes(3).length > 0) {
                        taken.add(row.getLong(1));
                    }
                }
            }
            if (!taken.isEmpty()) {
                finish.setArray(1, connection.createArrayOf("int8", taken.toArray()));
                finish.executeUpdate();
            }
            connection.commit();
            if (taken.isEmpty()) {
                LockSupport.parkNanos(NAP);
            }
            return taken.size();
        }
    }
}
