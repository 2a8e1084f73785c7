package dev.trunkline.consume;

import dev.trunkline.consume.Run.Item;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A thread that runs handlers. It is interrupted only while one runs, so that no other pays for it; and a message is either ended by
 * its handler or abandoned, never both.
 */
final class Worker {

    private static final long GRACE = TimeUnit.SECONDS.toNanos(1);

    /** What it has taken of a run. The dispatcher's lock guards it. */
    final List<Item> turn = new ArrayList<>();

    private final Thread thread;
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable Run run;
    private List<Item> unit = List.of();
    private List<Item> before = List.of();
    private boolean interrupted;
    private long since;
    private boolean abandoned;

    Worker(Consumer<Worker> work) {
        this.thread = Thread.ofVirtual().name("trunkline-handler").unstarted(() -> work.accept(this));
    }

    void start() {
        thread.start();
    }

    /**
     * A handler is called with a message, or with those of a unit.
     *
     * @param newBefore what it has handled before in the same turn, and is over
     */
    void begin(Run newRun, List<Item> newUnit, List<Item> newBefore) {
        lock.lock();
        try {
            run = newRun;
            unit = newUnit;
            before = newBefore;
            interrupted = false;
            since = System.nanoTime();
            abandoned = false;
        } finally {
            lock.unlock();
        }
    }

    /** The handler has returned. False: too late, its message was abandoned. */
    boolean end() {
        lock.lock();
        try {
            unit = List.of();
            return !abandoned;
        } finally {
            lock.unlock();
            Thread.interrupted();
        }
    }

    /** Tells what was handled before in the same turn, if the handler has run for so long. What is parked is taken out of there by the worker. */
    void tellBefore(long nanos, Results.Early early) {
        lock.lock();
        try {
            if (run != null && !unit.isEmpty() && !unit.getFirst().parked && System.nanoTime() - since >= nanos) {
                early.over(run.owned, before);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Interrupts the handler if it has run for so long. */
    void interruptAfter(long nanos) {
        lock.lock();
        try {
            if (!unit.isEmpty() && !interrupted && System.nanoTime() - since >= nanos) {
                interrupted = true;
                since = System.nanoTime();
                thread.interrupt();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Whether a handler was interrupted and has not returned for so long. */
    boolean isHung(long nanos) {
        lock.lock();
        try {
            return !unit.isEmpty() && interrupted && !abandoned && System.nanoTime() - since >= Math.max(nanos, GRACE);
        } finally {
            lock.unlock();
        }
    }

    /** What is done about the messages of a handler that hangs. */
    interface Burial {
        boolean of(Run run, List<Item> unit, List<Item> before);
    }

    /** Abandons the messages of a handler that hangs, if that can be done before the handler returns. */
    void abandon(long nanos, Burial burial) {
        lock.lock();
        try {
            if (isHung(nanos) && run != null) {
                abandoned = burial.of(run, unit, before);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Whether the last messages were abandoned; told once. */
    boolean takeAbandoned() {
        lock.lock();
        try {
            boolean was = abandoned;
            abandoned = false;
            return was;
        } finally {
            lock.unlock();
        }
    }
}
