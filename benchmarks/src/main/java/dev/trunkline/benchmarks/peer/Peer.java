package dev.trunkline.benchmarks.peer;

import java.util.Optional;

/** A way to bring messages from publishers to groups. It may be open in several processes; one of them clears it. */
public interface Peer extends AutoCloseable {

    /** How long all of them wait before they try a message again that has failed. */
    int RETRY_MILLIS = 1_000;

    /** How often all of them try a message before they put it aside. */
    int TRIES = 5;

    /** Begins anew, with no messages, for the groups 0, 1 … */
    void clear(int groups) throws Exception;

    /** For designs in which a message is there once. */
    static void requireOneGroup(int groups) {
        if (groups != 1) {
            throw new IllegalArgumentException("a message here is for one group, not for " + groups);
        }
    }

    /** The process of its broker, if it needs one. */
    default Optional<ProcessHandle> broker() {
        return Optional.empty();
    }

    /** This process's part in it, from now on. */
    Member join() throws Exception;

    @Override
    void close();
}
