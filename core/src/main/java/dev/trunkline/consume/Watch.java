package dev.trunkline.consume;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * What a session makes of the beats of others: one that stood still over a lease's worth of quick looks in a row is to be ended. A look that
 * failed or took long says nothing of them, only of the database: then it begins anew.
 */
final class Watch {

    private static final long LONGEST_INTERVAL = TimeUnit.MILLISECONDS.toNanos(500);
    /** A slow look may see a beat that was sent after it began: by less than a session stops early. */
    private static final int QUICK_LOOKS_PER_LEASE = 8;

    private final long interval;
    /** By session. */
    private final Map<Long, Seen> seen = new HashMap<>();

    /** How often a session has beaten, and for how long others believe in it without that. */
    record Beat(long count, Duration lease) {}

    /** A beat, and over how many looks it stood still. */
    private record Seen(long beat, int still) {}

    /** @param lease of the session that watches: its looks are a part of it, so that they add up to it */
    Watch(Duration lease) {
        this.interval = Math.ceilDiv(lease.toNanos(), Math.ceilDiv(lease.toNanos(), LONGEST_INTERVAL));
    }

    /** From the beginning of a look to that of the next, at least, in nanoseconds. */
    long interval() {
        return interval;
    }

    /**
     * The sessions that are to be ended, with the beats at which they stand.
     *
     * @param beats of all others
     * @param nanos how long the look took
     */
    Map<Long, Long> look(Map<Long, Beat> beats, long nanos) {
        Map<Long, Long> dead = new HashMap<>();
        seen.keySet().retainAll(beats.keySet());
        beats.forEach((session, beat) -> {
            Seen before = seen.remove(session);
            int still = before != null && before.beat() == beat.count() ? before.still() + 1 : 0;
            if (!isQuick(nanos, beat.lease())) {
                return;
            }
            if (still * interval >= beat.lease().toNanos()) {
                dead.put(session, beat.count());
            } else {
                seen.put(session, new Seen(beat.count(), still));
            }
        });
        return dead;
    }

    private static boolean isQuick(long nanos, Duration lease) {
        return nanos <= Math.min(LONGEST_INTERVAL, lease.toNanos() / QUICK_LOOKS_PER_LEASE);
    }

    /** A look failed. */
    void fail() {
        seen.clear();
    }
}
