package dev.trunkline.embedded;

/** How a server is stopped. */
public enum Shutdown {
    /** Ends all sessions, writes a checkpoint, exits. The next start needs no recovery. */
    FAST("fast"),
    /** Exits at once, as in a crash. The next start recovers from the write-ahead log. */
    IMMEDIATE("immediate");

    final String mode;

    Shutdown(String mode) {
        this.mode = mode;
    }
}
