package dev.trunkline;

/** A topic's name or configuration is not allowed. Nothing was written. */
public final class InvalidTopicException extends TrunklineException {

    private static final long serialVersionUID = 1L;

    public InvalidTopicException(String message) {
        super(message);
    }

    public InvalidTopicException(String message, Throwable cause) {
        super(message, cause);
    }
}
