package dev.trunkline.benchmarks.peer;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** One process's part in a peer. */
public interface Member extends AutoCloseable {

    /** A sender for one more thread. */
    Sender sender() throws Exception;

    /** Publishes in the caller's transaction, if the design can do that. */
    default void send(Connection transaction, List<Letter> letters) throws SQLException {
        throw new UnsupportedOperationException("publishes on its own only");
    }

    /** Begins to handle the messages of a group. */
    void consume(int group, Handler handler) throws Exception;

    /** Ends the work, and fails if some of it has failed. */
    @Override
    void close();
}
