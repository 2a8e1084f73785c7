package dev.trunkline.log;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Rung in this process when something was appended to the log. A hint: readers also look on their own. */
public final class Bell {

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition rung = lock.newCondition();
    private final Map<Object, Runnable> listeners = new ConcurrentHashMap<>();
    private long count;

    public void ring() {
        lock.lock();
        try {
            count++;
            rung.signalAll();
        } finally {
            lock.unlock();
        }
        listeners.values().forEach(Runnable::run);
    }

    /** From now on, a listener is told whenever it is rung. */
    public void onRing(Object who, Runnable listener) {
        listeners.put(who, listener);
    }

    public void forget(Object who) {
        listeners.remove(who);
    }

    /** How often it has been rung. */
    public long count() {
        lock.lock();
        try {
            return count;
        } finally {
            lock.unlock();
        }
    }

    /** Waits until it has been rung more often than that, at most so long. */
    public void await(long heard, long nanos) throws InterruptedException {
        lock.lock();
        try {
            long left = nanos;
            while (count == heard && left > 0) {
                left = rung.awaitNanos(left);
            }
        } finally {
            lock.unlock();
        }
    }
}
