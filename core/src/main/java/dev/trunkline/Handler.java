package dev.trunkline;

/**
 * Handles messages. To return is to be done; to throw is to have failed, and the message is tried again by the group's
 * {@link RetryPolicy}. Handlers run on virtual threads and may block. A message may come again after a fault: what happened
 * by then is recorded a fraction of a second later.
 *
 * @param <T> what payloads are decoded to
 */
@FunctionalInterface
public interface Handler<T> {

    void handle(Delivery<T> delivery) throws Exception;

    /** A handler that says what became of the message. */
    static <T> Handler<T> deciding(Decision<T> decision) {
        return new DecidingHandler<>(decision);
    }

    /**
     * Handles a message and says what became of it.
     *
     * @param <T> what payloads are decoded to
     */
    @FunctionalInterface
    interface Decision<T> {
        Outcome handle(Delivery<T> delivery) throws Exception;
    }
}
