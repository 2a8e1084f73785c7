package dev.trunkline;

/** A group was asked for something that its state does not allow. */
public class ConsumerGroupException extends TrunklineException {

    private static final long serialVersionUID = 1L;

    public ConsumerGroupException(String message) {
        super(message);
    }

    public ConsumerGroupException(String message, Throwable cause) {
        super(message, cause);
    }
}
