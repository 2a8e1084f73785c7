package dev.trunkline;

/** A payload is over the limit of its topic. Nothing was written. */
public final class PayloadTooLargeException extends InvalidMessageException {

    private static final long serialVersionUID = 1L;

    public PayloadTooLargeException(String message) {
        super(message);
    }

    public PayloadTooLargeException(String message, Throwable cause) {
        super(message, cause);
    }
}
