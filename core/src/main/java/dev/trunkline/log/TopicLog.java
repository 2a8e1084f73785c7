package dev.trunkline.log;

import dev.trunkline.InvalidMessageException;
import dev.trunkline.Priority;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is known of one topic's log: its shape, which stays, and its segments, which come and go. Immutable.
 *
 * <p>A strand is one partition at one priority: the unit that has offsets of its own. Strands of {@link Priority#NORMAL} are
 * numbered like the partitions; those of the other levels follow.
 */
record TopicLog(String name, int id, int partitions, int levels, List<Segment> segments) {

    /** @param bases the first offset of each strand that lies in it or after it */
    record Segment(int id, List<Long> bases) {}

    int strands() {
        return partitions * levels;
    }

    int strand(int partition, Priority priority) {
        if (partition < 0 || partition >= partitions) {
            throw new InvalidMessageException(
                    "topic \"" + name + "\" has partitions 0 to " + (partitions - 1) + ", not " + partition);
        }
        if (priority != Priority.NORMAL && levels == 1) {
            throw new InvalidMessageException("topic \"" + name + "\" has no priority levels: read NORMAL");
        }
        return partition + partitions * Levels.of(priority);
    }

    int partition(int strand) {
        return strand % partitions;
    }

    Priority priority(int strand) {
        return Levels.priority(strand, partitions);
    }

    /** The segment that holds an offset, or will; null if it has been dropped. */
    @Nullable
    Segment holding(int strand, long offset) {
        for (int i = segments.size() - 1; i >= 0; i--) {
            if (segments.get(i).bases().get(strand) <= offset) {
                return segments.get(i);
            }
        }
        return null;
    }
}
