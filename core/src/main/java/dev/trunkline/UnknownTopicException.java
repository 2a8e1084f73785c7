package dev.trunkline;

/** There is no such topic. Nothing was written. */
public final class UnknownTopicException extends TrunklineException {

    private static final long serialVersionUID = 1L;

    public UnknownTopicException(String message) {
        super(message);
    }

    public UnknownTopicException(String message, Throwable cause) {
        super(message, cause);
    }
}
