package dev.trunkline.benchmarks.peer;

import java.util.List;

/** Publishes for one thread. Its member closes it. */
@FunctionalInterface
public interface Sender {

    /** Publishes all of them, in one commit where there are commits, and returns once they are as durable as they get. */
    void send(List<Letter> letters) throws Exception;
}
