package dev.trunkline;

/** Nobody listens to the topic, and it is set to refuse messages then: see {@link Keeping#refusingUnheard}. Nothing was written. */
public final class NoSubscriptionsException extends TrunklineException {

    private static final long serialVersionUID = 1L;

    public NoSubscriptionsException(String message, Throwable cause) {
        super(message, cause);
    }
}
