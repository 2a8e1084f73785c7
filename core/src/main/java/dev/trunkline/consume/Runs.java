package dev.trunkline.consume;

import dev.trunkline.LogMessage;
import dev.trunkline.consume.Dispatcher.Result;
import dev.trunkline.consume.Run.Item;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * All that a group has under way in this process, and what each run of it waits for. A busy run is in one place: ready, with a
 * worker, or waiting for its next try, for the group's loop, or for its consumer to have less to do. The dispatcher's lock guards it.
 */
final class Runs {

    /** Runs of keys that come again are kept, up to so many in a strand. */
    private static final int MOST_KEPT = 10_000;

    private final Cut cut;
    private final Runnable needed;
    private final Ready ready;
    private final PriorityQueue<Run> later = new PriorityQueue<>(Comparator.comparingLong(run -> run.notBefore));
    /** For the group's loop, which loads what is parked and notes suspects. */
    private final Set<Run> held = new LinkedHashSet<>();
    /** Runs whose consumers have enough to do. */
    private final Map<Semaphore, ArrayDeque<Run>> crowded = new HashMap<>();
    /** Parked runs, busy or not, with messages from the log to be parked behind them. */
    private final Set<Run> arrivals = new LinkedHashSet<>();
    /** Messages that were noted, and are ready or with a worker. */
    private int noted;

    /** Of messages that came from the log; and from what is parked. */
    private long bytes;

    private long loadedBytes;
    private long unrecorded;
    private long stops;
    private boolean wanted;
    private boolean tracked;

    /** @param needed the group's loop has something to do */
    Runs(Cut cut, Ready ready, Runnable needed) {
        this.cut = cut;
        this.ready = ready;
        this.needed = needed;
    }

    /** The bytes of messages from the log that were offered and are not done. */
    long bytes() {
        return bytes;
    }

    /** The bytes of messages that were loaded from what is parked and are not done. */
    long loadedBytes() {
        return loadedBytes;
    }

    private void weigh(Item item, int sign) {
        if (item.parked) {
            loadedBytes += sign * item.weight();
        } else {
            bytes += sign * item.weight();
        }
    }

    int ready() {
        return ready.size();
    }

    /** How many runs were stopped by now. */
    long stops() {
        return stops;
    }

    /** How many noted messages are under way. */
    int noted() {
        return noted;
    }

    /** Calls the group's loop as soon as there is room: it has found none. */
    void wantRoom() {
        wanted = true;
    }

    /** Whether it is recorded what was not for the group. */
    void track(boolean newTracked) {
        tracked = newTracked;
    }

    /** How many messages were done since the last call. */
    long takeUnrecorded() {
        long count = unrecorded;
        unrecorded = 0;
        return count;
    }

    // ---- in ----

    /** Takes messages of a strand on, in order. */
    void offer(Owned owned, Strand strand, List<LogMessage> messages) {
        for (LogMessage message : messages) {
            if (!strand.admit(message.offset())) {
                continue;
            }
            // What is not wanted of a unit of work stays in its place: the unit may end with it.
            if (!strand.wants(message) && !cut.isWork()) {
                complete(strand, message.offset(), true);
                unrecorded++;
                continue;
            }
            String key = cut.runOf(message);
            Run run = key == null
                    ? new Run(owned, strand, null)
                    : strand.runs.computeIfAbsent(key, k -> new Run(owned, strand, k));
            Item item = new Item(message, strand, strand.failures(message.offset()), false);
            weigh(item, 1);
            run.waiting.add(item);
            if (run.parked) {
                arrivals.add(run);
            } else if (!run.busy && cut.mayEnd(message)) {
                enqueue(run);
            }
        }
    }

    /** Takes messages on that were parked, in order; none: the run goes on with what comes from the log. */
    void offerParked(Run run, List<Item> items) {
        run.parked = !items.isEmpty();
        for (Item item : items) {
            weigh(item, 1);
            run.line.add(item);
        }
        enqueue(run);
    }

    /** Lets a run go on with what it has. */
    void enqueue(Run run) {
        run.busy = true;
        if (run.owned.isStopped()) {
            discard(run);
        } else if (run.mustBeLoaded()) {
            needTheLoop(run);
        } else if (run.stopped || run.front().isEmpty()) {
            rest(run);
        } else if (cut.take(run.front()) == 0) {
            run.busy = false; // more of it is to come
        } else if (run.mustBeNoted()) {
            needTheLoop(run);
        } else {
            ready.add(run);
        }
    }

    private void needTheLoop(Run run) {
        held.add(run);
        needed.run();
    }

    private void rest(Run run) {
        run.busy = false;
        if (run == run.strand.keyless) {
            run.strand.keyless = null;
        } else if (run.key != null && !run.parked && run.strand.runs.size() > MOST_KEPT) {
            run.strand.runs.remove(run.key);
        }
    }

    // ---- to workers and back ----

    /** The next run that may be handled, unless it may not be now. */
    @Nullable
    Run next(Predicate<Run> mayRun) {
        while (true) {
            Run run = ready.poll();
            if (run == null) {
                return null;
            }
            if (!mayRun.test(run)) {
                ready.add(run);
                return null;
            }
            if (!run.owned.isStopped()
                    && !run.mustBeLoaded()
                    && !run.mustBeNoted()
                    && !run.front().isEmpty()) {
                return run;
            }
            enqueue(run);
        }
    }

    /** What of a run is handled at once. */
    void take(Run run, List<Item> items) {
        items.clear();
        for (int n = cut.take(run.front()); n > 0; n--) {
            items.add(run.front().remove());
        }
        run.owned.running++;
        run.isWithWorker = true;
    }

    void finish(Run run, List<Item> items, Result result) {
        run.owned.running--;
        run.isWithWorker = false;
        for (int i = 0; i < result.over(); i++) {
            complete(run.owned, items.get(i));
        }
        for (int i = items.size() - 1; i >= result.over(); i--) {
            unnote(items.get(i));
            if (!items.get(i).over) {
                run.putBack(items.get(i));
            }
        }
        if (run.owned.isStopped()) {
            discard(run);
        } else if (result.full() != null) {
            crowded.computeIfAbsent(result.full(), full -> new ArrayDeque<>()).add(run);
        } else if (result.delay() > 0) {
            tryLater(run, result.delay());
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
            needed.run();
        }
    }

    private void complete(Owned owned, Item item) {
        unnote(item);
        unrecorded++;
        if (!item.over) {
            record(owned, item);
        }
    }

    private void record(Owned owned, Item item) {
        weigh(item, -1);
        if (item.parked) {
            owned.parked--;
        } else {
            complete(item.strand, item.message.offset(), item.rejected);
        }
    }

    private void complete(Strand strand, long offset, boolean rejected) {
        if (rejected && tracked) {
            strand.reject(offset);
        } else {
            strand.complete(offset);
        }
    }

    /**
     * A worker does not come back from a unit of its turn, which is over. The rest of the turn is put back. Until the worker comes back nothing of
     * the run is handled; so that the cursor can go on, what comes of its key is parked.
     */
    void abandon(Run run, List<Item> unit, List<Item> turn, boolean stop) {
        over(run.owned, unit);
        unit.forEach(this::unnote);
        for (Item item : turn.reversed()) {
            if (!item.over) {
                unnote(item);
                run.putBack(item);
            }
        }
        if (run.owned.isStopped()) {
            discard(run);
        } else if (stop) {
            stop(run);
        } else if (cut.parks() && run.key != null) {
            run.parked = true;
            putBackArrivals(run);
        }
    }

    /** Messages are over though their worker has not come back. */
    void over(Owned owned, List<Item> unit) {
        for (Item item : unit) {
            if (!item.over) {
                item.over = true;
                record(owned, item);
            }
        }
    }

    private void unnote(Item item) {
        if (item.noted) {
            item.noted = false;
            noted--;
            if (noted == 0) {
                needed.run();
            }
        }
    }

    private void tryLater(Run run, long delay) {
        if (run.parked && !cut.isWork()) {
            shorten(run, 1);
        }
        run.notBefore = System.nanoTime() + delay;
        Item head = run.front().peekFirst();
        if (run.failingSince == 0 && head != null && head.failures > 0) {
            run.failingSince = System.nanoTime();
        }
        later.add(run);
        needed.run();
    }

    private void stop(Run run) {
        run.parked = true;
        run.stopped = true;
        run.stoppedAs = ++stops;
        shorten(run, 0);
        putBackArrivals(run);
    }

    /** Leaves so many messages in a line: the others are where it was loaded from. */
    private void shorten(Run run, int left) {
        while (run.line.size() > left) {
            weigh(run.line.removeLast(), -1);
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

    // ---- for the group's loop ----

    /** Lets runs whose time has come be tried again. In how many nanoseconds the next one's comes. */
    long tryAgain(long now) {
        while (!later.isEmpty() && later.peek().notBefore - now <= 0) {
            enqueue(later.remove());
        }
        return later.isEmpty() ? Long.MAX_VALUE : Math.max(0, later.peek().notBefore - now);
    }

    /** Lets all be tried again now. */
    void hurry() {
        take(later, run -> true).forEach(this::enqueue);
    }

    /** Takes runs that were held, of those that fit. */
    List<Run> takeHeld(Predicate<Run> which) {
        return take(held, which);
    }

    /** Holds a run until the group's loop comes again. */
    void hold(Run run) {
        if (run.owned.isStopped()) {
            discard(run);
        } else {
            held.add(run);
        }
    }

    /** Takes runs out of those that wait for their next try. */
    List<Run> takeLater(Predicate<Run> which) {
        return take(later, which);
    }

    void putBackLater(Run run) {
        if (run.owned.isStopped()) {
            discard(run);
        } else {
            later.add(run);
        }
    }

    /** Takes parked runs with messages from the log. */
    List<Run> takeArrivals(Predicate<Run> which) {
        return take(arrivals, run -> run.parked && which.test(run));
    }

    void putBackArrivals(Run run) {
        if (!run.owned.isStopped() && !run.waiting.isEmpty()) {
            arrivals.add(run);
        }
    }

    /** What a run has from the log was parked: there it is done. What was tried of it is the first of the line. */
    void parked(Run run) {
        Item tried = run.parked ? null : run.waiting.peekFirst();
        for (Item item : run.waiting) {
            item.strand.complete(item.message.offset());
            unnote(item);
            weigh(item, -1);
            run.owned.parked++;
            unrecorded++;
        }
        run.waiting.clear();
        run.parked = true;
        if (tried != null) {
            tried.parked = true;
            weigh(tried, 1);
            run.line.add(tried);
        }
    }

    /** The first messages of runs that were held may be handled: they were noted. */
    void note(List<Run> runs) {
        for (Run run : runs) {
            note(run);
            enqueue(run);
        }
    }

    /** The first message of a run that was held may be handled, and none beside it. */
    void noteAlone(Run run) {
        if (run.owned.isStopped()) {
            discard(run);
        } else {
            note(run);
            ready.addAlone(run);
        }
    }

    private void note(Run run) {
        Item head = run.front().peekFirst();
        if (head != null) {
            head.noted = true;
            noted++;
        }
    }

    /** Holds again the message that was to be handled alone, unless there is none or it has begun. */
    @Nullable
    Item putOffAlone() {
        Run run = ready.pollAlone();
        if (run == null) {
            return null;
        }
        run.front().forEach(this::unnote);
        hold(run);
        return run.front().peekFirst();
    }

    /** The first message of a run that was held is over, without having been handled. */
    void remove(Run run, boolean stops) {
        complete(run.owned, run.front().remove());
        if (stops) {
            stop(run);
        }
        enqueue(run);
    }

    /** Drops what waits of a partition that was stopped. */
    void drop(Owned owned) {
        Predicate<Run> its = run -> run.owned == owned;
        ready.removeIf(its, this::discard);
        for (Iterable<Run> place : List.of(later, held, arrivals)) {
            take(place, its).forEach(this::discard);
        }
        crowded.values().forEach(runs -> take(runs, its).forEach(this::discard));
        for (Strand strand : owned.strands()) {
            strand.runs.values().forEach(this::discard); // also what waits behind a handler that may never return
            strand.runs.clear();
        }
    }

    private void discard(Run run) {
        for (ArrayDeque<Item> items : List.of(run.waiting, run.line)) {
            for (Item item : items) {
                weigh(item, -1);
                unnote(item);
            }
            items.clear();
        }
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
}
