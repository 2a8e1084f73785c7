package dev.trunkline.consume;

import dev.trunkline.LogMessage;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A partition that this process owns for a group, and what of it is under way. Its group's lock guards all but the flag. */
final class Owned {

    private final int partition;
    private final long epoch;
    private final List<Strand> strands;
    /** By key; messages without a key have runs of their own and are not in here. */
    final Map<String, Run> runs = new HashMap<>();
    /** How many handlers run. */
    int running;
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

    /** Messages that are handled one after the other. */
    static final class Run {
        final Owned owned;
        final @Nullable String key;
        final ArrayDeque<Item> waiting = new ArrayDeque<>();
        /** In the ready queue, with a handler, or waiting for its next try. */
        boolean busy;
        /** When its first message may be tried again. */
        long notBefore;

        Run(Owned owned, @Nullable String key) {
            this.owned = owned;
            this.key = key;
        }
    }

    /** A message that was read. */
    static final class Item {
        final LogMessage message;
        final Strand strand;
        int failures;

        Item(LogMessage message, Strand strand, int failures) {
            this.message = message;
            this.strand = strand;
            this.failures = failures;
        }
    }
}
