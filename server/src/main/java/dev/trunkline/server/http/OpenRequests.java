package dev.trunkline.server.http;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/** How many requests of each caller are open: one who waits a thousand times must not take what is there for all. */
final class OpenRequests {

    private final int most;
    private final ConcurrentMap<String, Integer> open = new ConcurrentHashMap<>();

    OpenRequests(int most) {
        this.most = most;
    }

    /** @throws Problem if the caller has too many already */
    void begin(String caller) {
        boolean[] may = new boolean[1];
        open.compute(caller, (name, count) -> {
            int now = count == null ? 0 : count;
            may[0] = now < most;
            return may[0] ? Integer.valueOf(now + 1) : count;
        });
        if (!may[0]) {
            throw new Problem(429, "this caller has " + most + " requests open already, which is all that it may");
        }
    }

    void end(String caller) {
        open.computeIfPresent(caller, (name, count) -> count == 1 ? null : count - 1);
    }
}
