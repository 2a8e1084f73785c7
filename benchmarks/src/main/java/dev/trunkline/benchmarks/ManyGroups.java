package dev.trunkline.benchmarks;

import java.sql.SQLException;

/** A way to give every message to each of many groups. It works as long as it is open. */
interface ManyGroups extends AutoCloseable {

    /** Where its tables are. */
    String schema();

    /** Publishes a batch in one commit, and returns its size. */
    long publish(int messages) throws Exception;

    /** How many messages the groups have handled, all of them together. */
    long handled();

    /** Removes messages that need not be kept. */
    void cleanUp() throws Exception;

    /** How many messages are still there. */
    long kept() throws SQLException;

    /** Of the statements by which groups get messages, whether they found any or not. */
    FetchTimes fetches();

    /** Ends the work, and fails unless each group has got each message at most once, and each that it was owed until now. */
    void end(long published) throws Exception;

    @Override
    void close() throws SQLException;
}
