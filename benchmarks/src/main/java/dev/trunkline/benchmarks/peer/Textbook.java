package dev.trunkline.benchmarks.peer;

import dev.trunkline.benchmarks.database.Address;
import dev.trunkline.benchmarks.database.Query;
import dev.trunkline.benchmarks.database.Sql;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/**
 * The table with a status that one would write first. Consumers lock rows, handle them, mark them done, and commit: as with Trunkline, a
 * message is done after it was handled, and one whose consumer dies is there for the next.
 */
final class Textbook implements Peer {

    private static final int CONSUMERS = 2;
    private static final Sql SQL = Sql.beside(Textbook.class, "textbook.sql");

    private final Address address;
    private final int batch;

    Textbook(Address address, int batch) {
        this.address = address;
        this.batch = batch;
    }

    /** As a queue that has been in use: some messages are done, and analyzed, so that consumers go by the index. */
    @Override
    public void clear(int groups) throws SQLException {
        Peer.requireOneGroup(groups);
        Query.execute(address, SQL.get("create"), SQL.get("use"), SQL.get("analyze"));
    }

    @Override
    public Member join() {
        return new Pollers(address, SQL.get("publish"), CONSUMERS, (connection, group, handler) -> {
            connection.setAutoCommit(false);
            PreparedStatement take = connection.prepareStatement(SQL.get("take", batch));
            PreparedStatement finish = connection.prepareStatement(SQL.get("finish"));
            PreparedStatement postpone = connection.prepareStatement(SQL.get("postpone"));
            return () -> {
                Batch taken = Batch.take(take.executeQuery(), handler);
                taken.settle(finish, postpone);
                connection.commit();
                return taken.size();
            };
        });
    }

    @Override
    public void close() {}
}
