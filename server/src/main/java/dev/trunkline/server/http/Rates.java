package dev.trunkline.server.http;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** How often callers may ask: so many times a second, and as many at once. */
final class Rates {

    /** More callers than this are forgotten as soon as they have paid. */
    private static final int MOST_KNOWN = 10_000;

    private final int perSecond;
    private final LongSupplier clock;
    /** By caller: when all that he has asked is paid for. */
    private final ConcurrentMap<String, Long> paid = new ConcurrentHashMap<>();

    /** @param clock in nanoseconds; asked in a caller's turn: one that was read before may be older than what others have paid since */
    Rates(int perSecond, LongSupplier clock) {
        this.perSecond = perSecond;
        this.clock = clock;
    }

    /** Whether a caller may ask once more now. */
    boolean allow(String caller) {
        long cost = TimeUnit.SECONDS.toNanos(1) / perSecond;
        long allowed = TimeUnit.SECONDS.toNanos(1);
        if (paid.size() > MOST_KNOWN) {
            paid.values().removeIf(until -> until - clock.getAsLong() < 0);
        }
        boolean[] may = new boolean[1];
        paid.compute(caller, (name, until) -> {
            long nanos = clock.getAsLong();
            long from = until == null || until - nanos < 0 ? nanos : until;
            may[0] = from + cost - nanos <= allowed;
            return may[0] ? from + cost : from;
        });
        return may[0];
    }
}
