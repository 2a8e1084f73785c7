package dev.trunkline;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * The log of every topic, for reading. Offsets of a partition start at 0 and have no gaps; what has an offset is
 * committed and stays where it is until retention drops it.
 *
 * <p>Methods without a priority read {@link Priority#NORMAL}.
 */
public interface Log {

    /**
     * Messages of a partition from an offset on, in order, at most so many. Empty at the end of the log.
     *
     * @throws OffsetOutOfRangeException if the offset was dropped by retention, or lies beyond the end
     */
    List<LogMessage> read(String topic, int partition, Priority priority, long fromOffset, int most);

    default List<LogMessage> read(String topic, int partition, long fromOffset, int most) {
        return read(topic, partition, Priority.NORMAL, fromOffset, most);
    }

    /** The first offset that is kept. */
    long first(String topic, int partition, Priority priority);

    default long first(String topic, int partition) {
        return first(topic, partition, Priority.NORMAL);
    }

    /** The offset that the next message will get. */
    long end(String topic, int partition, Priority priority);

    default long end(String topic, int partition) {
        return end(topic, partition, Priority.NORMAL);
    }

    /** The first kept offset appended at that time or later; the end if there is none. */
    long offsetAt(String topic, int partition, Priority priority, Instant time);

    default long offsetAt(String topic, int partition, Instant time) {
        return offsetAt(topic, partition, Priority.NORMAL, time);
    }

    /** Follows all partitions of a topic, from their ends on. */
    Tail tail(String topic);

    /** Follows all partitions of a topic, from their first kept offsets on. */
    Tail fromBeginning(String topic);

    /** A reader that goes along with the log. Not for several threads at once. */
    interface Tail {
        /** The next messages, in order within each partition; waits for the first one, at most so long. */
        List<LogMessage> poll(Duration timeout) throws InterruptedException;
    }
}
