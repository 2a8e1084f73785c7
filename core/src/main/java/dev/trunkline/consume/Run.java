package dev.trunkline.consume;

import dev.trunkline.LogMessage;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Messages that are handled one after the other: those of a key, a single one without a key, or all of a strand. While it is parked,
 * its line is handled, which comes from what is parked; what comes from the log waits to be parked behind it. The dispatcher's lock
 * guards it.
 */
final class Run {

    /** There are many runs, and most have one message: small ones stay in the processor's cache. */
    private static final int FEW = 2;

    final Owned owned;
    final Strand strand;
    final @Nullable String key;
    /** From the log. */
    final ArrayDeque<Item> waiting = new ArrayDeque<>(FEW);
    /** From what is parked. */
    final ArrayDeque<Item> line = new ArrayDeque<>(FEW);
    /** Ready, with a handler, waiting for its next try, or held for the group's loop. */
    boolean busy;

    boolean isWithWorker;

    boolean parked;
    /** A dead letter stops it: nothing of it is handled. */
    boolean stopped;
    /** Which one it was of all that a worker has stopped, last. */
    long stoppedAs;
    /** The highest offset that was handled. */
    long last = -1;
    /** When its first message may be tried again. */
    long notBefore;
    /** Since when its first message has failed; zero if it has not. */
    long failingSince;

    Run(Owned owned, Strand strand, @Nullable String key) {
        this.owned = owned;
        this.strand = strand;
        this.key = key;
    }

    /** What is to be handled next, in order. */
    ArrayDeque<Item> front() {
        return parked ? line : waiting;
    }

    boolean mustBeLoaded() {
        return parked && !stopped && line.isEmpty();
    }

    boolean mustBeNoted() {
        if (!strand.hasSuspects()) {
            return false;
        }
        Item head = front().peekFirst();
        return head != null && head.isSuspect() && !head.noted;
    }

    /** Puts messages that are not over back to where they came from. */
    void putBack(Item item) {
        (item.parked ? line : waiting).addFirst(item);
    }

    /** A message that was read. */
    static final class Item {
        private static final long OVERHEAD = 300;

        final LogMessage message;
        final Strand strand;
        int failures;
        /** It lies in what is parked: in the log it is done. */
        boolean parked;
        /** It was noted that it is being started. */
        boolean noted;
        /** The group's filter did not let it through. */
        boolean rejected;
        /** It is over, though its handler has not returned. */
        boolean over;

        Item(LogMessage message, Strand strand, int failures, boolean parked) {
            this.message = message;
            this.strand = strand;
            this.failures = failures;
            this.parked = parked;
        }

        long weight() {
            return message.payload().length + OVERHEAD;
        }

        /** Whether a process may have died of it. */
        boolean isSuspect() {
            return strand.suspects(message.offset()) || (strand.isOrphaned() && parked);
        }
    }
}
