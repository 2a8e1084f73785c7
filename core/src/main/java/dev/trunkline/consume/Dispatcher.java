package dev.trunkline.consume;

import dev.trunkline.LogMessage;
import dev.trunkline.consume.Owned.Item;
import dev.trunkline.consume.Owned.Run;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Hands messages to handlers, on virtual threads: runs of one key one message after the other, different runs at the same time, as
 * many as allowed. A worker takes a run from the ready queue, a few messages of it at a time, and ends when there is none. What is in
 * the hands of workers and in queues is bounded by whoever offers.
 */
final class Dispatcher {

    private static final int MOST_AT_ONCE = 32;
    /** Runs of keys that come again are kept, up to so many in a partition. */
    private static final int MOST_KEPT = 10_000;

    private static final long PATIENCE = TimeUnit.MILLISECONDS.toNanos(100);

    /** What to do with messages. */
    interface Work {
        /** Handles a message. Returns how long to wait before the next try, zero or less if it is over, well or not. */
        long handle(Owned owned, Item item);

        /** Whether messages of a partition may be handled now. */
        boolean isLive(Owned owned);

        /** There is room for more. */
        void roomy();
    }

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition idle = lock.newCondition();
    private final Work work;
    private final int concurrency;
    private final boolean ordered;
    private final ArrayDeque<Run> ready = new ArrayDeque<>();
    private final PriorityQueue<Run> later = new PriorityQueue<>(Comparator.comparingLong(run -> run.notBefore));
    private final Set<Worker> workers = new HashSet<>();
    private boolean paused;
    private long bytes;
    private long unrecorded;
    private boolean wanted;

    /** A thread that runs handlers. It is interrupted only while one runs, so that no other pays for it. */
    private static final class Worker {
        private final Thread thread;
        private final ReentrantLock lock = new ReentrantLock();
        private boolean handling;
        private long since;

        Worker(Thread thread) {
            this.thread = thread;
        }

        void begin() {
            lock.lock();
            try {
                handling = true;
                since = System.nanoTime();
            } finally {
                lock.unlock();
            }
        }

        void end() {
            lock.lock();
            try {
                handling = false;
            } finally {
                lock.unlock();
            }
            Thread.interrupted();
        }

        /** Interrupts the handler if it has run for so long; again after as long. */
        void interruptAfter(long nanos) {
            lock.lock();
            try {
                if (handling && System.nanoTime() - since >= nanos) {
                    since = System.nanoTime();
                    thread.interrupt();
                }
            } finally {
                lock.unlock();
            }
        }
    }

    Dispatcher(Work work, int concurrency, boolean ordered) {
        this.work = work;
        this.concurrency = concurrency;
        this.ordered = ordered;
    }

    /** Guards the partitions of the group and all that is under way. */
    ReentrantLock lock() {
        return lock;
    }

    /** The bytes of messages that were offered and are not done. */
    long bytes() {
        return bytes;
    }

    /** Tells whoever offers as soon as there is room: it has found none. */
    void wantRoom() {
        wanted = true;
    }

    /** How many messages were done since the last call. */
    long takeUnrecorded() {
        long count = unrecorded;
        unrecorded = 0;
        return count;
    }

    /** Takes messages of a strand on, in order. Under the lock. */
    void offer(Owned owned, Strand strand, List<LogMessage> messages) {
        for (LogMessage message : messages) {
            if (!strand.admit(message.offset())) {
                continue;
            }
            bytes += weight(message);
            String key = ordered ? message.key() : null;
            Run run = key == null ? new Run(owned, null) : owned.runs.computeIfAbsent(key, k -> new Run(owned, k));
            run.waiting.add(new Item(message, strand, strand.failures(message.offset())));
            if (!run.busy) {
                run.busy = true;
                ready.add(run);
            }
        }
        employ();
    }

    private static long weight(LogMessage message) {
        return message.payload().length + 300L;
    }

    private void employ() {
        for (int more = Math.min(paused ? 0 : ready.size(), concurrency - workers.size()); more > 0; more--) {
            Worker[] worker = new Worker[1];
            Thread thread = Thread.ofVirtual().name("trunkline-handler").unstarted(() -> work(worker[0]));
            worker[0] = new Worker(thread);
            workers.add(worker[0]);
            thread.start();
        }
    }

    private void work(Worker me) {
        Run run = null;
        List<Item> items = new ArrayList<>();
        int over = 0;
        long delay = 0;
        while (true) {
            lock.lock();
            try {
                if (run != null) {
                    finish(run, items, over, delay);
                }
                run = next();
                if (run == null) {
                    workers.remove(me);
                    idle.signalAll();
                    return;
                }
                items.clear();
                for (int n = Math.min(MOST_AT_ONCE, run.waiting.size()); n > 0; n--) {
                    items.add(run.waiting.remove());
                }
                run.owned.running++;
            } finally {
                lock.unlock();
            }
            over = 0;
            delay = 0;
            while (over < items.size() && delay <= 0) {
                if (!work.isLive(run.owned)) {
                    delay = PATIENCE;
                    break;
                }
                me.begin();
                delay = work.handle(run.owned, items.get(over));
                me.end();
                if (delay <= 0) {
                    over++;
                }
            }
        }
    }

    /** Puts away what came of a run: so many of its messages are over; if there is a delay, the next one must wait. */
    private void finish(Run run, List<Item> items, int over, long delay) {
        Owned owned = run.owned;
        owned.running--;
        for (int i = 0; i < over; i++) {
            Item item = items.get(i);
            item.strand.complete(item.message.offset());
            bytes -= weight(item.message);
        }
        unrecorded += over;
        for (int i = items.size() - 1; i >= over; i--) {
            run.waiting.addFirst(items.get(i));
        }
        if (owned.isStopped()) {
            discard(run);
            idle.signalAll();
        } else if (run.waiting.isEmpty()) {
            run.busy = false;
            if (run.key != null && owned.runs.size() > MOST_KEPT) {
                owned.runs.remove(run.key);
            }
        } else if (delay > 0) {
            run.notBefore = System.nanoTime() + delay;
            later.add(run);
            work.roomy();
        } else {
            ready.add(run);
        }
        if (wanted) {
            wanted = false;
            work.roomy();
        }
    }

    private @Nullable Run next() {
        while (!paused) {
            Run run = ready.poll();
            if (run == null || !run.owned.isStopped()) {
                return run;
            }
            discard(run);
        }
        return null;
    }

    private void discard(Run run) {
        run.waiting.forEach(item -> bytes -= weight(item.message));
        run.waiting.clear();
    }

    /** Makes ready what may be tried again, interrupts handlers that take too long, and says in how many nanoseconds to come again. */
    long attend(Duration handlerTimeout) {
        lock.lock();
        try {
            long now = System.nanoTime();
            while (!later.isEmpty() && later.peek().notBefore - now <= 0) {
                ready.add(later.remove());
            }
            employ();
            workers.forEach(worker -> worker.interruptAfter(handlerTimeout.toNanos()));
            return later.isEmpty() ? Long.MAX_VALUE : Math.max(0, later.peek().notBefore - now);
        } finally {
            lock.unlock();
        }
    }

    void pause(boolean newPaused) {
        lock.lock();
        try {
            paused = newPaused;
            employ();
        } finally {
            lock.unlock();
        }
    }

    /** Drops what waits of a partition that was stopped. Under the lock. */
    void drop(Owned owned) {
        ready.removeIf(run -> {
            if (run.owned == owned) {
                discard(run);
            }
            return run.owned == owned;
        });
        later.removeIf(run -> {
            if (run.owned == owned) {
                discard(run);
            }
            return run.owned == owned;
        });
        owned.runs.clear();
    }

    /** Waits until no handler runs; those that do at the deadline are interrupted. Whether all ended. */
    boolean awaitIdle(Duration deadline) {
        lock.lock();
        try {
            if (await(deadline.toNanos())) {
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
