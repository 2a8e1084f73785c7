package dev.trunkline.benchmarks.peer;

import java.sql.SQLException;
import java.util.List;

/** Publishes for one thread. */
@FunctionalInterface
public interface Sender extends AutoCloseable {

    /** Publishes all of them, in one commit where there are commits, and returns once they are as durable as they get. */
    void send(List<Letter> letters) throws Exception;

    @Override
    default void close() throws SQLException {}
}
