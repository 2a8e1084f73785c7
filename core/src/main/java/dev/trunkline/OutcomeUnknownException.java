package dev.trunkline;

/**
 * The connection was lost before the answer to a commit came: the message is in the log or it is not. Publishing it again is safe with an idempotency key only.
 */
public final class OutcomeUnknownException extends TrunklineException {

    private static final long serialVersionUID = 1L;

    public OutcomeUnknownException(String message) {
        super(message);
    }

    public OutcomeUnknownException(String message, Throwable cause) {
        super(message, cause);
    }
}
