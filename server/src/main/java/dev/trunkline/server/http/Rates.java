package dev.trunkline.server.http;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;

/** How often callers may ask: so many times a second, and as many at once. */
final class Rates {

    /** More callers than this are forgotten as soon as they have paid. */
    private static final int MOST_KNOWN = 10_000;

    private final int perSecond;
    /** By caller: when all that he has asked is paid for. */
    private final ConcurrentMap<String, Long> paid = new ConcurrentHashMap<>();

    Rates(int perSecond) {
        this.perSecond = perSecond;
    }

    /** Whether a caller may ask once more now. */
    boolean allow(String caller, long nanos) {
        long cost = TimeUnit.SECONDS.toNanos(1) / perSecond;
        long allowed = TimeUnit.SECONDS.toNanos(1);
        if (paid.size() > MOST_KNOWN) {
            paid.values().removeIf(until -> until - nanos < 0);
        }
        boolean[] may = new boolean[1];
        paid.compute(caller, (name, until) -> {
            long from = until == null || until - nanos < 0 ? nanos : until;
            may[0] = from + cost - nanos <= allowed;
            return may[0] ? from + cost : from;
        });
        return may[0];
    }
}
