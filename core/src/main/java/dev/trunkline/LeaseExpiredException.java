package dev.trunkline;

/** A batch was settled before, or its lease ran out and its messages were given out again: nothing was changed. */
public class LeaseExpiredException extends TrunklineException {

    private static final long serialVersionUID = 1L;

    public LeaseExpiredException(String message, Throwable cause) {
        super(message, cause);
    }
}
