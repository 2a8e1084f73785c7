package dev.trunkline;

/** A batch was settled before, or its lease ran out and its messages were given out again: nothing was changed. */
public class LeaseExpiredException extends TrunklineException {

    private static final long serialVersionUID = 1L;

    private final long epoch;

    /** @param epoch the epoch that the partition is at now */
    public LeaseExpiredException(String message, long epoch, Throwable cause) {
        super(message, cause);
        this.epoch = epoch;
    }

    /** The epoch that the partition is at now: that of the batch that took this one's place, or later. */
    public long epoch() {
        return epoch;
    }
}
