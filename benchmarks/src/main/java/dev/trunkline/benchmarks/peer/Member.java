package dev.trunkline.benchmarks.peer;

/** One process's part in a peer. */
public interface Member extends AutoCloseable {

    /** A sender for one more thread. */
    Sender sender() throws Exception;

    /** Begins to handle the messages of a group. */
    void consume(int group, Handler handler) throws Exception;

    /** Ends the work, and fails if some of it has failed. */
    @Override
    void close();
}
