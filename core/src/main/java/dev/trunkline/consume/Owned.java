package dev.trunkline.consume;

import java.util.List;

/** A partition that this process owns for a group, and what of it is under way. Its group's lock guards all but the flags. */
final class Owned {

    private final int partition;
    private final long epoch;
    private final List<Strand> strands;
    /** How many handlers run. */
    int running;
    /** How many of them were abandoned, and have not returned. */
    int hung;
    /** How many of its messages are parked. */
    long parked;
    /** No message of it is handed to a handler any more: it is being given up, or somebody else owns it. */
    private volatile boolean stopped;
    /** Somebody else owns it: there is nothing to record or to release. */
    private volatile boolean lost;

    Owned(int partition, long epoch, List<Strand> strands) {
        this.partition = partition;
        this.epoch = epoch;
        this.strands = strands;
    }

    int partition() {
        return partition;
    }

    long epoch() {
        return epoch;
    }

    List<Strand> strands() {
        return strands;
    }

    /** Whether nothing of it runs but what was given up. The group's lock guards it. */
    boolean isIdle() {
        return running == hung;
    }

    boolean isStopped() {
        return stopped;
    }

    boolean isLost() {
        return lost;
    }

    void stop() {
        stopped = true;
    }

    void lose() {
        lost = true;
        stopped = true;
    }
}
