package dev.trunkline;

/** There is a topic of that name already. */
public final class TopicExistsException extends TrunklineException {

    private static final long serialVersionUID = 1L;

    public TopicExistsException(String message) {
        super(message);
    }

    public TopicExistsException(String message, Throwable cause) {
        super(message, cause);
    }
}
