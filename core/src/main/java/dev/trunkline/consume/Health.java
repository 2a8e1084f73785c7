package dev.trunkline.consume;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Tells a handler that fails for everything from messages that fail: of the last fifty messages more than half, and at least ten, have
 * failed and not succeeded since. Then it is the handler that is ill. However often a message is tried, it counts once.
 */
final class Health {

    private static final int REMEMBERED = 50;
    /** So many must fail, and so many more are read of a strand now and then to find out whether they still do. */
    static final int FEWEST = 10;

    private final ReentrantLock lock = new ReentrantLock();
    /** Messages by strand and offset, oldest first: whether they failed. */
    private final Map<Object, Boolean> failed = new LinkedHashMap<>();

    private record Place(int strand, long offset) {}

    private volatile int successes;
    private volatile boolean troubled;
    private volatile boolean hope;

    private volatile boolean failing;

    boolean isFailing() {
        return failing;
    }

    /** Whether this made the difference between well and ill. */
    boolean failed(Run.Item item) {
        lock.lock();
        try {
            note(item, true);
            return decide();
        } finally {
            lock.unlock();
        }
    }

    /** So many messages succeeded, among them some that had failed. They push out what is older. */
    void succeeded(int count, List<Run.Item> failedBefore) {
        if (!troubled) {
            successes = Math.min(REMEMBERED, successes + count); // a race that loses some does no harm
            return;
        }
        lock.lock();
        try {
            failedBefore.forEach(item -> note(item, false));
            successes = Math.min(REMEMBERED, successes + count - failedBefore.size());
            forget(failed.size() + successes - REMEMBERED);
            decide();
            hope = true;
        } finally {
            lock.unlock();
        }
    }

    /** Whether something succeeded since the last call, after failures. */
    boolean takeHope() {
        boolean had = hope;
        hope = false;
        return had;
    }

    private void note(Run.Item item, boolean hasFailed) {
        failed.put(new Place(item.strand.number(), item.message.offset()), hasFailed);
        forget(failed.size() - REMEMBERED);
        successes = Math.min(successes, REMEMBERED - failed.size());
    }

    private boolean decide() {
        long failures = failed.values().stream().filter(each -> each).count();
        boolean now = failures >= FEWEST && 2 * failures > failed.size() + successes;
        boolean changed = now != failing;
        failing = now;
        troubled = failures > 0;
        return changed;
    }

    private void forget(int count) {
        Iterator<Object> oldest = failed.keySet().iterator();
        for (int n = count; n > 0 && oldest.hasNext(); n--) {
            oldest.next();
            oldest.remove();
        }
    }
}
