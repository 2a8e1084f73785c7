package dev.trunkline.benchmarks;

import dev.trunkline.benchmarks.database.Query;
import dev.trunkline.benchmarks.database.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** How much was written to the tables of an installation, and to the WAL, while none of its instances was open. */
final class Writes implements AutoCloseable {

    private static final long PATIENCE = TimeUnit.MINUTES.toNanos(1);

    private final Connection connection;
    private final Sql sql;
    /** The connections of others' instances, if somebody else uses the database. */
    private final List<String> strangers;

    /** @param rows inserted, updated and deleted */
    record Total(long rows, long walBytes) {
        Total since(Total before) {
            return new Total(rows - before.rows, walBytes - before.walBytes);
        }
    }

    Writes(Workbench bench, String installation) throws SQLException {
        this.connection = bench.address().connect();
        this.sql = bench.sql(installation);
        this.strangers = Query.texts(connection, sql.get("connections"));
    }

    /** What was written so far, once the instances that were closed have left. */
    Total total() throws SQLException, InterruptedException {
        awaitClosed();
        return new Total(
                Query.number(connection, sql.get("rowsWritten")), Query.number(connection, sql.get("walPosition")));
    }

    /** Waits until the instances that were closed have left: a connection may tell of its writes only then. */
    void awaitClosed() throws SQLException, InterruptedException {
        long began = System.nanoTime();
        while (!strangers.containsAll(Query.texts(connection, sql.get("connections")))) {
            if (System.nanoTime() - began > PATIENCE) {
                throw new IllegalStateException("a Trunkline is still connected a minute after it was closed");
            }
            Thread.sleep(2);
        }
    }

    @Override
    public void close() throws SQLException {
        connection.close();
    }
}
