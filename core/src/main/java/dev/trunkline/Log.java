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
     * Messages of a partition from an offset on, in order, at most so many, and no more of them when they have 16 MiB. Empty at the end of the log.
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

    /**
     * Follows all partitions of a topic from where another tail of it had come.
     *
     * @param position what {@link Tail#position} said
     * @throws OffsetOutOfRangeException if retention has dropped what comes next, or it is not in the log any more
     * @throws IllegalArgumentException if it is no position in this topic; nor is one of a topic that was dropped and had the same name
     */
    Tail resume(String topic, String position);

    /** A reader that goes along with the log. Not for several threads at once. */
    interface Tail {
        /**
         * The next messages, in order within each partition; waits for the first one, at most so long.
         *
         * @throws OffsetOutOfRangeException if retention has dropped what comes next, or a standby has taken over that has not all that was told
         * @throws UnknownTopicException if the topic was dropped, also if another one has its name
         */
        List<LogMessage> poll(Duration timeout) throws InterruptedException;

        /** Where it has come: behind all that it has told. A short text, for {@link Log#resume}. */
        String position();
    }
}
