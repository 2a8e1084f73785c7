package dev.trunkline.log;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Rung in this process when something was appended to the log of a topic. A hint: readers also look on their own. Who hears one topic is not
 * woken for another: with hundreds of them, one that is busy would keep all awake.
 */
public final class Bell {

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition rung = lock.newCondition();
    /** By topic. */
    private final Map<String, Map<Object, Runnable>> listeners = new HashMap<>();

    private final Map<String, Long> counts = new HashMap<>();
    /** How often it was rung for all topics; and for whichever. */
    private long forAll;

    private long count;

    /** Something was appended to a topic. */
    public void ring(String topic) {
        List<Runnable> told;
        lock.lock();
        try {
            counts.merge(topic, 1L, Long::sum);
            count++;
            rung.signalAll();
            told = List.copyOf(listeners.getOrDefault(topic, Map.of()).values());
        } finally {
            lock.unlock();
        }
        told.forEach(Runnable::run);
    }

    /** Something may have been appended to any topic. */
    public void ringAll() {
        List<Runnable> told;
        lock.lock();
        try {
            forAll++;
            count++;
            rung.signalAll();
            told = listeners.values().stream()
                    .flatMap(its -> its.values().stream())
                    .toList();
        } finally {
            lock.unlock();
        }
        told.forEach(Runnable::run);
    }

    /** From now on, a listener is told whenever it is rung for a topic. */
    public void onRing(Object who, String topic, Runnable listener) {
        lock.lock();
        try {
            listeners.computeIfAbsent(topic, t -> new HashMap<>()).put(who, listener);
        } finally {
            lock.unlock();
        }
    }

    public void forget(Object who) {
        lock.lock();
        try {
            listeners.values().removeIf(its -> its.remove(who) != null && its.isEmpty());
        } finally {
            lock.unlock();
        }
    }

    /** How often it has been rung, for whichever topic. */
    public long count() {
        lock.lock();
        try {
            return count;
        } finally {
            lock.unlock();
        }
    }

    /** How often it has been rung for a topic. */
    public long count(String topic) {
        lock.lock();
        try {
            return counts.getOrDefault(topic, 0L) + forAll;
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

    /** Waits until it has been rung more often than that for a topic, at most so long. */
    public void await(String topic, long heard, long nanos) throws InterruptedException {
        lock.lock();
        try {
            long left = nanos;
            while (counts.getOrDefault(topic, 0L) + forAll == heard && left > 0) {
                left = rung.awaitNanos(left);
            }
        } finally {
            lock.unlock();
        }
    }
}
