package dev.trunkline.benchmarks.peer;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Messages of a group that have failed and are to be tried again later, for a design whose tables have no place for that. */
final class Postponed {

    private final Map<Long, Failure> failures = new HashMap<>();

    private record Failure(int tries, long due) {}

    /** Those that are not due yet. */
    List<Long> ids() {
        long now = System.nanoTime();
        return failures.entrySet().stream()
                .filter(failure -> failure.getValue().due() - now > 0)
                .map(Map.Entry::getKey)
                .toList();
    }

    /** Notes what has failed. Returns what is done: what was handled, and what was tried often enough. */
    List<Long> settle(Batch batch) {
        List<Long> done = new ArrayList<>(batch.handled());
        long due = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Peer.RETRY_MILLIS);
        for (long id : batch.failed()) {
            Failure failure = failures.merge(id, new Failure(1, due), (old, one) -> new Failure(old.tries() + 1, due));
            if (failure.tries() >= Peer.TRIES) {
                done.add(id);
            }
        }
        if (!failures.isEmpty()) {
            done.forEach(failures::remove);
        }
        return done;
    }
}
