package dev.trunkline.consume;

import java.time.Duration;

/**
 * What a session knows of itself by its last beat that arrived. It counts from when that was sent: others may have seen it at once. Times are
 * those of {@link System#nanoTime}, or what a simulation says.
 *
 * @param session its number
 * @param aliveUntil others believe in it for longer
 * @param nextBeat when it is to beat again
 */
record Pulse(long session, long aliveUntil, long nextBeat) {

    private static final int BEATS_PER_LEASE = 3;
    private static final int MARGINS_PER_LEASE = 5;

    /** Of nobody. */
    static final Pulse NONE = new Pulse(0, 0, 0);

    static Pulse of(long session, long sent, Duration lease) {
        long nanos = lease.toNanos();
        return new Pulse(session, sent + nanos - nanos / MARGINS_PER_LEASE, sent + nanos / BEATS_PER_LEASE);
    }

    /** Whether it is this session, and others must still believe in it. */
    boolean isAlive(long which, long now) {
        return session == which && now - aliveUntil < 0;
    }

    boolean isBeatDue(long now) {
        return now - nextBeat >= 0;
    }
}
