package dev.trunkline.consume;

import dev.trunkline.consume.Run.Item;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hands messages to handlers, on virtual threads: those of a run one after the other, different runs at the same time, as many as
 * allowed. A worker takes a run that is ready, a few messages of it at a time, and ends when there is none.
 */
final class Dispatcher {

    private static final Logger log = LoggerFactory.getLogger(Dispatcher.class);
    private static final long NEXT_TRY = TimeUnit.SECONDS.toNanos(1);
    /** What a turn has done is not recorded while a handler runs, unless that takes so long. */
    private static final long LONG = TimeUnit.MILLISECONDS.toNanos(200);

    /** What to do with messages. */
    interface Work {
        Result handle(Worker worker, Run run, List<Item> items);

        /** Whether a run may be handled now: for a time another one may want to be alone. */
        boolean mayRun(Run run);

        /** What a worker had was handled, or was to be. Under the lock. */
        void finished(Run run, List<Item> items, Result result);
    }

    /**
     * What came of messages that were handled one after the other.
     *
     * @param over how many of them are over, well or not
     * @param delay before the next one is tried, in nanoseconds
     * @param stopped the last one that is over stops its run
     * @param full what the next one waits for, if its consumer has enough to do
     */
    record Result(
            int over, long delay, boolean stopped, @Nullable Semaphore full) {
        /** What became of them was decided while their handler hung. */
        static final Result ABANDONED = new Result(0, 0, false);

        Result(int over, long delay, boolean stopped) {
            this(over, delay, stopped, null);
        }
    }

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition idle = lock.newCondition();
    private final Work work;
    private final int concurrency;
    private final Health health;
    private final Runs runs;
    private final Set<Worker> workers = new HashSet<>();
    /** Workers whose messages were abandoned: they do not count. */
    private int hung;

    private volatile boolean paused;

    Dispatcher(Work work, int concurrency, Health health, Runs runs) {
        this.work = work;
        this.concurrency = concurrency;
        this.health = health;
        this.runs = runs;
    }

    /** Does something under the lock that guards the partitions of the group and all that is under way; what is ready then is handled. */
    <R> R locked(Supplier<R> action) {
        lock.lock();
        try {
            R result = action.get();
            employ();
            return result;
        } finally {
            lock.unlock();
        }
    }

    void locked(Runnable action) {
        lock.lock();
        try {
            action.run();
            employ();
        } finally {
            lock.unlock();
        }
    }

    private void employ() {
        int most = health.isFailing() ? 1 : concurrency;
        for (int more = Math.min(paused ? 0 : runs.ready(), most - workers.size() + hung); more > 0; more--) {
            Worker worker = new Worker(this::work);
            worker.start(); // it waits for the lock; should there be no memory for it, it has no place either
            workers.add(worker);
        }
    }

    private void work(Worker me) {
        Run run = null;
        Result result = new Result(0, 0, false);
        while (true) {
            boolean wasAbandoned = me.takeAbandoned();
            lock.lock();
            try {
                if (wasAbandoned && run != null) {
                    hung--;
                    run.owned.hung--;
                    me.turn.removeIf(item -> !item.over);
                    result = new Result(me.turn.size(), 0, false);
                }
                if (run != null) {
                    work.finished(run, me.turn, result);
                    runs.finish(run, me.turn, result);
                }
                run = mayGoOn() ? runs.next(work::mayRun) : null;
                if (run == null) {
                    workers.remove(me);
                    idle.signalAll();
                    return;
                }
                runs.take(run, me.turn);
            } finally {
                lock.unlock();
            }
            result = handle(me, run);
        }
    }

    /** A worker that died would keep its run, and its partition, for as long as the process lives. */
    private Result handle(Worker me, Run run) {
        try {
            return work.handle(me, run, me.turn);
        } catch (Throwable e) { // an Error too: there may be no memory to note a failure
            me.end();
            log.error("what could not even fail in order is tried again, from {} on", me.turn.getFirst().message, e);
            return new Result(0, NEXT_TRY, false);
        }
    }

    private boolean mayGoOn() {
        return !paused && (!health.isFailing() || workers.size() - hung == 1);
    }

    /** Interrupts handlers that take too long, and returns workers whose handlers did not return then. */
    List<Worker> hurryUp(long timeoutNanos) {
        return locked(() -> {
            workers.forEach(worker -> {
                worker.tellBefore(LONG, runs::over);
                worker.interruptAfter(timeoutNanos);
            });
            return workers.stream()
                    .filter(worker -> worker.isHung(timeoutNanos))
                    .toList();
        });
    }

    /** Messages are over though their handler has not returned; whether they stop their run. */
    void abandon(Worker worker, Run run, List<Item> unit, boolean stop) {
        locked(() -> {
            hung++;
            run.owned.hung++;
            runs.abandon(run, unit, worker.turn, stop);
        });
    }

    /** Messages are over though their worker has more to do. */
    void over(Owned owned, List<Item> items) {
        locked(() -> runs.over(owned, items));
    }

    void pause(boolean newPaused) {
        locked(() -> paused = newPaused);
    }

    boolean isPaused() {
        return paused;
    }

    /** Whether no handler runs but those that were abandoned. */
    boolean isQuiet() {
        return locked(() -> workers.size() == hung);
    }

    /** Waits until no handler runs; those that do at the deadline are interrupted. Whether all ended. */
    boolean awaitIdle(long nanos) {
        lock.lock();
        try {
            if (await(nanos)) {
                return true;
            }
            workers.forEach(worker -> worker.interruptAfter(0));
            return await(TimeUnit.SECONDS.toNanos(1));
        } finally {
            lock.unlock();
        }
    }

    private boolean await(long nanos) {
        long left = nanos;
        try {
            while (!workers.isEmpty() && left > 0) {
                left = idle.awaitNanos(left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return workers.isEmpty();
    }
}
