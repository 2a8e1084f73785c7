package dev.trunkline;

/** A message breaks a rule. Nothing was written. */
public class InvalidMessageException extends TrunklineException {

    private static final long serialVersionUID = 1L;

    public InvalidMessageException(String message) {
        super(message);
    }

    public InvalidMessageException(String message, Throwable cause) {
        super(message, cause);
    }
}
