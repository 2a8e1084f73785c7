package dev.trunkline.benchmarks.peer;

import dev.trunkline.benchmarks.database.Address;
import dev.trunkline.benchmarks.database.Query;
import dev.trunkline.benchmarks.database.Sql;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import org.postgresql.PGConnection;

/**
 * A table that is only appended to, and a row for each group that says how far it has come, re-implemented from a published design. A
 * consumer moves its group's row, reads the messages between, handles them, and commits it all: one that dies has moved nothing.
 */
final class Log implements Peer {

    private static final int PATIENCE = 50;

    private final Address address;
    private final Sql sql;
    private final boolean notified;

    private Log(Address address, String file, boolean notified) {
        this.address = address;
        this.sql = Sql.beside(Log.class, file);
        this.notified = notified;
    }

    /** Publishers take places from a counter and so wait for one another; consumers are woken. */
    static Log ofCounter(Address address) {
        return new Log(address, "counter-log.sql", true);
    }

    /** Publishers take places from a sequence, and a commit that is late is behind what a group has seen already. */
    static Log ofSequence(Address address) {
        return new Log(address, "sequence-log.sql", false);
    }

    /** As a log that has been in use: it has messages that every group has seen, and is analyzed, so that consumers go by the index. */
    @Override
    public void clear(int groups) throws SQLException {
        Query.execute(address, sql.get("create"), sql.get("use"), sql.get("analyze"), sql.get("subscribe", groups));
    }

    @Override
    public Member join() {
        return new Pollers(address, sql.get("publish"), 1, (connection, group, handler) -> {
            if (notified) {
                Query.execute(connection, sql.get("listen"));
            }
            connection.setAutoCommit(false);
            PreparedStatement take = connection.prepareStatement(sql.get("take", group));
            Handler insistent = new Insistent(handler);
            return () -> {
                int found = handle(take, insistent);
                return found == 0 && notified && isTold(connection) ? handle(take, insistent) : found;
            };
        });
    }

    private static int handle(PreparedStatement take, Handler handler) throws SQLException {
        Batch batch = Batch.take(take.executeQuery(), handler);
        take.getConnection().commit();
        return batch.size();
    }

    private static boolean isTold(Connection connection) throws SQLException {
        return connection.unwrap(PGConnection.class).getNotifications(PATIENCE).length > 0;
    }

    @Override
    public void close() {}
}
