package dev.trunkline.benchmarks.peer;

import dev.trunkline.benchmarks.database.Address;
import dev.trunkline.benchmarks.database.Query;
import dev.trunkline.benchmarks.database.Sql;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/**
 * A queue whose messages are hidden for a while once they are read, re-implemented from a published design. No lock is held while they
 * are handled; a message whose consumer dies shows again when its time is over, and so does one that is handled for longer than that.
 */
final class VisibilityTimeout implements Peer {

    private static final int CONSUMERS = 2;
    private static final Sql SQL = Sql.beside(VisibilityTimeout.class, "visibility-timeout.sql");

    private final Address address;

    VisibilityTimeout(Address address) {
        this.address = address;
    }

    /** As a queue that has been in use: analyzed when it was full, so that consumers go by the index, and then emptied. */
    @Override
    public void clear(int groups) throws SQLException {
        Peer.requireOneGroup(groups);
        Query.execute(address, SQL.get("create"), SQL.get("use"), SQL.get("analyze"), SQL.get("empty"));
    }

    @Override
    public Member join() {
        return new Pollers(address, SQL.get("publish"), CONSUMERS, (connection, group, handler) -> {
            PreparedStatement read = connection.prepareStatement(SQL.get("read"));
            PreparedStatement acknowledge = connection.prepareStatement(SQL.get("acknowledge"));
            PreparedStatement postpone = connection.prepareStatement(SQL.get("postpone"));
            return () -> {
                Batch batch = Batch.take(read.executeQuery(), handler);
                batch.settle(acknowledge, postpone);
                return batch.size();
            };
        });
    }

    @Override
    public void close() {}
}
