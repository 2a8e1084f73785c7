package dev.trunkline.benchmarks.peer;

/** What a group does with a message. If it throws, the message is to be tried again as the peer does that. */
@FunctionalInterface
public interface Handler {
    void handle(Letter letter) throws Exception;
}
