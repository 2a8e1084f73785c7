package dev.trunkline.consume;

import dev.trunkline.LogMessage;
import dev.trunkline.consume.Run.Item;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Hands messages to handlers, on virtual threads: those of a run one after the other, different runs at the same time, as many as
 * allowed. A worker takes a run from the ready queue, a few messages of it at a time, and ends when there is none. What is in the
 * hands of workers and in queues is bounded by whoever offers. A run that needs the database is held until the group's loop has seen to it.
 */
final class Dispatcher {

    /** Runs of keys that come again are kept, up to so many in a strand. */
    private static final int MOST_KEPT = 10_000;

    /** What to do with messages. */
    interface Work {
        Result handle(Worker worker, Run run, List<Item> items);

        /** Whether a run may be handled now: for a time another one may want to be alone. */
        boolean mayRun(Run run);

        /** Something of a run is over, or failed. */
        void finished(Run run, List<Item> items, Result result);

        /** The group's loop has something to do. */
        void needed();
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
        Result(int over, long delay, boolean stopped) {
            this(over, delay, stopped, null);
        }
    }

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition idle = lock.newCondition();
    private final Work work;
    private final int concurrency;
    private final Cut cut;
    private final Health health;
    private final Ready ready;
    private final PriorityQueue<Run> later = new PriorityQueue<>(Comparator.comparingLong(run -> run.notBefore));
    /** For the group's loop. */
    private final Set<Run> held = new LinkedHashSet<>();
    /** Parked runs with messages from the log, to be parked behind them. */
    private final Set<Run> arrivals = new LinkedHashSet<>();

    /** Runs whose consumers have enough to do. */
    private final Map<Semaphore, ArrayDeque<Run>> crowded = new HashMap<>();

    private final Set<Worker> workers = new HashSet<>();
    private int hung;
    /** Messages that were noted, and are ready or with a handler. */
    private int noted;

    private boolean paused;
    private long bytes;
    private long unrecorded;
    private boolean wanted;

    Dispatcher(Work work, int concurrency, Cut cut, Health health, Ready ready) {
        this.work = work;
        this.concurrency = concurrency;
        this.cut = cut;
        this.health = health;
        this.ready = ready;
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
            String key = cut.runOf(message);
            Run run = key == null
                    ? new Run(owned, strand, null)
                    : strand.runs.computeIfAbsent(key, k -> new Run(owned, strand, k));
            Item item = new Item(message, strand, strand.failures(message.offset()), false);
            bytes += item.weight();
            run.waiting.add(item);
            if (run.parked) {
                arrivals.add(run);
            } else if (!run.busy && cut.mayEnd(message)) {
                enqueue(run);
            }
        }
        employ();
    }

    /** Messages that were parked, to be handled in order. Under the lock. */
    void offerParked(Run run, List<Item> items) {
        for (Item item : items) {
            bytes += item.weight();
            run.line.add(item);
        }
        enqueue(run);
        employ();
    }

    /** Lets a run go on with what it has. Under the lock. */
    void enqueue(Run run) {
        run.busy = true;
        if (run.owned.isStopped()) {
            discard(run);
        } else if (run.mustBeLoaded() || run.mustBeNoted()) {
            held.add(run);
            work.needed();
        } else if (run.stopped || run.front().isEmpty()) {
            rest(run);
        } else if (cut.take(run.front()) == 0) {
            run.busy = false; // more of it is to come
        } else {
            ready.add(run);
        }
    }

    private void rest(Run run) {
        run.busy = false;
        if (run == run.strand.keyless) {
            run.strand.keyless = null;
        } else if (run.key != null && !run.parked && run.strand.runs.size() > MOST_KEPT) {
            run.strand.runs.remove(run.key);
        }
    }

    private void employ() {
        int most = health.isFailing() ? 1 : concurrency;
        for (int more = Math.min(paused ? 0 : ready.size(), most - workers.size() + hung); more > 0; more--) {
            Worker worker = new Worker(this::work);
            workers.add(worker);
            worker.start();
        }
    }

    private void work(Worker me) {
        Run run = null;
        List<Item> items = new ArrayList<>();
        Result result = new Result(0, 0, false);
        while (true) {
            boolean wasAbandoned = me.takeAbandoned();
            lock.lock();
            try {
                hung -= wasAbandoned ? 1 : 0;
                if (run != null) {
                    finish(run, items, result);
                }
                run = next();
                if (run == null) {
                    workers.remove(me);
                    idle.signalAll();
                    return;
                }
                items.clear();
                for (int n = cut.take(run.front()); n > 0; n--) {
                    items.add(run.front().remove());
                }
                run.owned.running++;
                run.isWithWorker = true;
            } finally {
                lock.unlock();
            }
            result = work.handle(me, run, items);
        }
    }

    private void finish(Run run, List<Item> items, Result result) {
        Owned owned = run.owned;
        owned.running--;
        run.isWithWorker = false;
        work.finished(run, items, result);
        for (int i = 0; i < result.over(); i++) {
            complete(owned, items.get(i));
        }
        unrecorded += result.over();
        for (int i = items.size() - 1; i >= result.over(); i--) {
            unnote(items.get(i));
            run.putBack(items.get(i));
        }
        if (owned.isStopped()) {
            discard(run);
            idle.signalAll();
        } else if (result.full() != null) {
            crowded.computeIfAbsent(result.full(), full -> new ArrayDeque<>()).add(run);
        } else if (result.delay() > 0) {
            run.notBefore = System.nanoTime() + result.delay();
            Item head = run.front().peekFirst();
            if (run.failingSince == 0 && head != null && head.failures > 0) {
                run.failingSince = System.nanoTime();
            }
            later.add(run);
            work.needed();
        } else {
            run.failingSince = 0;
            if (result.stopped()) {
                stop(run);
            }
            enqueue(run);
        }
        if (!crowded.isEmpty()) {
            letIn();
        }
        if (wanted) {
            wanted = false;
            work.needed();
        }
    }

    private void letIn() {
        crowded.forEach((limit, runs) -> {
            for (int n = limit.availablePermits(); n > 0 && !runs.isEmpty(); n--) {
                enqueue(runs.remove());
            }
        });
        crowded.values().removeIf(ArrayDeque::isEmpty);
    }

    /** The first message of a run that is held is over, without having been handled. Under the lock. */
    void remove(Run run, boolean stop) {
        complete(run.owned, run.front().remove());
        unrecorded++;
        if (stop) {
            stop(run);
        }
    }

    private void stop(Run run) {
        run.parked = true;
        run.stopped = true;
        run.line.forEach(item -> bytes -= item.weight());
        run.line.clear();
        if (!run.waiting.isEmpty()) {
            arrivals.add(run);
        }
    }

    private void complete(Owned owned, Item item) {
        unnote(item);
        bytes -= item.weight();
        if (!item.abandoned) {
            record(owned, item);
        }
    }

    private static void record(Owned owned, Item item) {
        if (item.parked) {
            owned.parked--;
        } else {
            item.strand.complete(item.message.offset());
        }
    }

    /** Messages are over though their handler has not returned. */
    void abandon(Owned owned, List<Item> unit) {
        lock.lock();
        try {
            hung++;
            for (Item item : unit) {
                item.abandoned = true;
                record(owned, item);
            }
            employ();
        } finally {
            lock.unlock();
        }
    }

    private void unnote(Item item) {
        if (item.noted) {
            item.noted = false;
            noted--;
            if (noted == 0) {
                work.needed();
            }
        }
    }

    /** Messages that were noted may be handled. Under the lock. */
    void note(List<Run> runs) {
        for (Run run : runs) {
            Item head = run.front().peekFirst();
            if (head != null) {
                head.noted = true;
                noted++;
            }
            enqueue(run);
        }
        employ();
    }

    /** How many noted messages are under way. */
    int noted() {
        return noted;
    }

    private @Nullable Run next() {
        while (!paused && (workers.size() - hung == 1 || !health.isFailing())) {
            Run run = ready.poll();
            if (run == null) {
                return null;
            }
            if (!work.mayRun(run)) {
                ready.add(run);
                return null;
            }
            if (run.owned.isStopped()
                    || run.mustBeLoaded()
                    || run.mustBeNoted()
                    || run.front().isEmpty()) {
                enqueue(run);
            } else {
                return run;
            }
        }
        return null;
    }

    private void discard(Run run) {
        for (ArrayDeque<Item> items : List.of(run.waiting, run.line)) {
            for (Item item : items) {
                bytes -= item.weight();
                unnote(item);
            }
            items.clear();
        }
    }

    /** Makes ready what may be tried again, interrupts handlers that take too long, and says in how many nanoseconds to come again. */
    long attend(long timeoutNanos) {
        lock.lock();
        try {
            long now = System.nanoTime();
            while (!later.isEmpty() && later.peek().notBefore - now <= 0) {
                enqueue(later.remove());
            }
            employ();
            workers.forEach(worker -> worker.interruptAfter(timeoutNanos));
            return later.isEmpty() ? Long.MAX_VALUE : Math.max(0, later.peek().notBefore - now);
        } finally {
            lock.unlock();
        }
    }

    /** Workers whose handlers did not return in twice the time they were given. */
    List<Worker> hanging(long timeoutNanos) {
        lock.lock();
        try {
            return workers.stream()
                    .filter(worker -> worker.isHung(timeoutNanos))
                    .toList();
        } finally {
            lock.unlock();
        }
    }

    /** All that waits for its next try may be tried now. Under the lock. */
    void hurry() {
        later.forEach(this::enqueue);
        later.clear();
        employ();
    }

    /** Holds a run until the group's loop comes again. Under the lock. */
    void hold(Run run) {
        if (run.owned.isStopped()) {
            discard(run);
        } else {
            held.add(run);
        }
    }

    /** Takes runs that were held, of those that fit. Under the lock. */
    List<Run> takeHeld(Predicate<Run> which) {
        return take(held, which);
    }

    /** Takes runs out of those that wait for their next try. They stay busy until they are put back. Under the lock. */
    List<Run> takeLater(Predicate<Run> which) {
        return take(later, which);
    }

    /** Takes parked runs with messages from the log that are to be parked behind them. Under the lock. */
    List<Run> takeArrivals(Predicate<Run> which) {
        return take(arrivals, run -> run.parked && which.test(run));
    }

    private static List<Run> take(Iterable<Run> from, Predicate<Run> which) {
        List<Run> taken = new ArrayList<>();
        for (Iterator<Run> all = from.iterator(); all.hasNext(); ) {
            Run run = all.next();
            if (which.test(run)) {
                taken.add(run);
                all.remove();
            }
        }
        return taken;
    }

    /** A run that was taken waits again for its next try. Under the lock. */
    void putBackLater(Run run) {
        if (run.owned.isStopped()) {
            discard(run);
        } else {
            later.add(run);
        }
    }

    /** What arrived of a run was not parked. Under the lock. */
    void putBackArrivals(Run run) {
        if (!run.owned.isStopped() && !run.waiting.isEmpty()) {
            arrivals.add(run);
        }
    }

    /** What a run has from the log was parked: there it is done. What was tried of it is the first of the line. Under the lock. */
    void parked(Run run) {
        Item tried = run.parked ? null : run.waiting.peekFirst();
        for (Item item : run.waiting) {
            item.strand.complete(item.message.offset());
            bytes -= item.weight();
            run.owned.parked++;
            unrecorded++;
        }
        run.waiting.clear();
        run.parked = true;
        if (tried != null) {
            tried.parked = true;
            bytes += tried.weight();
            run.line.add(tried);
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

    /** Starts workers for what is ready. */
    void goOn() {
        lock.lock();
        try {
            employ();
        } finally {
            lock.unlock();
        }
    }

    /** Whether no handler runs but those that were abandoned. */
    boolean isQuiet() {
        lock.lock();
        try {
            return workers.size() == hung;
        } finally {
            lock.unlock();
        }
    }

    /** Drops what waits of a partition that was stopped. Under the lock. */
    void drop(Owned owned) {
        Predicate<Run> its = run -> run.owned == owned;
        ready.removeIf(its, this::discard);
        take(later, its).forEach(this::discard);
        take(held, its).forEach(this::discard);
        take(arrivals, its).forEach(this::discard);
        crowded.values().forEach(runs -> take(runs, its).forEach(this::discard));
        owned.strands().forEach(strand -> strand.runs.clear());
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
