package dev.trunkline.database;

import dev.trunkline.TrunklineException;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A background role: a thread that runs one step after the other, waits in between as long as the step says, and can be
 * woken early. A step that fails is logged and tried again, more and more slowly; the thread does not die of it.
 */
public final class Loop implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Loop.class);
    /** After a failure it waits no longer than that, unless the caller says so. */
    public static final Duration SLOWEST_RETRY = Duration.ofSeconds(5);

    /** One step; returns how long to wait before the next. */
    @FunctionalInterface
    public interface Step {
        Duration run();
    }

    private final String name;
    private final Step step;
    private final Backoff backoff;
    private final Thread thread;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private boolean woken;
    private boolean closed;

    public Loop(String name, Step step) {
        this(name, step, new Backoff(SLOWEST_RETRY));
    }

    /** One that is tried again as the caller says. */
    public Loop(String name, Step step, Backoff backoff) {
        this.name = name;
        this.step = step;
        this.backoff = backoff;
        this.thread = Thread.ofPlatform().name(name).daemon().unstarted(this::run);
    }

    public Loop start() {
        thread.start();
        return this;
    }

    /** Makes the next step run now. */
    public void wake() {
        lock.lock();
        try {
            woken = true;
            changed.signal();
        } finally {
            lock.unlock();
        }
    }

    private void run() {
        Duration pause = Duration.ZERO;
        while (waitFor(pause)) {
            try {
                pause = step.run();
                backoff.reset();
            } catch (TrunklineException e) {
                pause = backoff.next();
                log.warn("{}: {} (next try in {} ms)", name, e.getMessage(), pause.toMillis());
            } catch (RuntimeException | Error e) { // a process without this thread would keep what it no longer serves
                pause = backoff.next();
                tell(e, pause);
            }
        }
    }

    private void tell(Throwable e, Duration pause) {
        try {
            log.error("{} failed (next try in {} ms)", name, pause.toMillis(), e);
        } catch (OutOfMemoryError more) {
            e.addSuppressed(more); // there is no memory to say it
        }
    }

    private boolean waitFor(Duration pause) {
        lock.lock();
        try {
            long nanos = pause.toNanos();
            while (!closed && !woken && nanos > 0) {
                nanos = changed.awaitNanos(nanos);
            }
            woken = false;
            return !closed;
        } catch (InterruptedException e) { // left behind by what a step has called: only close ends it
            return !closed;
        } finally {
            lock.unlock();
        }
    }

    /** Lets the step that is running end, and waits for it. */
    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            changed.signal();
        } finally {
            lock.unlock();
        }
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
                thread.interrupt();
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
