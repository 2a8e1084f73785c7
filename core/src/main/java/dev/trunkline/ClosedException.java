package dev.trunkline;

/** What was called has been closed. Nothing was written. */
public final class ClosedException extends TrunklineException {

    private static final long serialVersionUID = 1L;

    public ClosedException(String message) {
        super(message);
    }

    public ClosedException(String message, Throwable cause) {
        super(message, cause);
    }
}
