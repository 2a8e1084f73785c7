package dev.trunkline;

/** An offset that is not in the log: dropped by retention, or beyond the end. */
public final class OffsetOutOfRangeException extends TrunklineException {

    private static final long serialVersionUID = 1L;

    private final long first;
    private final long end;

    public OffsetOutOfRangeException(String topic, int partition, long offset, long first, long end) {
        super("offset " + offset + " of partition " + partition + " of topic \"" + topic
                + "\" is not in the log, which holds " + first + " to " + (end - 1) + ": read from " + first
                + ", or wait at " + end);
        this.first = first;
        this.end = end;
    }

    /** The first offset that is kept. */
    public long first() {
        return first;
    }

    /** The offset that the next message will get. */
    public long end() {
        return end;
    }
}
