package dev.trunkline.log;

import dev.trunkline.Priority;

/** The numbers of priority levels: the strands of a topic are those of its first level, one for each partition, then those of the next. */
public final class Levels {

    private static final Priority[] PRIORITIES = {Priority.NORMAL, Priority.HIGH, Priority.LOW};

    private Levels() {}

    public static int of(Priority priority) {
        return (priority.code() + PRIORITIES.length) % PRIORITIES.length;
    }

    /** The priority of a strand of a topic with so many partitions. */
    public static Priority priority(int strand, int partitions) {
        return PRIORITIES[strand / partitions];
    }
}
