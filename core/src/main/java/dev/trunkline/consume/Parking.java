package dev.trunkline.consume;

import dev.trunkline.Priority;
import dev.trunkline.consume.LetterTable.Fenced;
import dev.trunkline.consume.LetterTable.Line;
import dev.trunkline.consume.LetterTable.Mark;
import dev.trunkline.consume.Run.Item;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keys that wait must not hold up the cursor: their messages are copied aside, and later ones of the key behind them. When the first can
 * be handled, the key's line is handled from there, in order, until it is empty; then the key goes on with what comes from the
 * log. All of it but the handling is done by the group's loop, so that nobody else adds to a line meanwhile.
 */
final class Parking {

    private static final Logger log = LoggerFactory.getLogger(Parking.class);
    private static final long PARK_AFTER = TimeUnit.SECONDS.toNanos(5);
    private static final long MOST_PARKED = 100_000;
    private static final int MANY_ARRIVALS = 200;
    private static final int LINE_AT_ONCE = 100;

    private static final Priority[] BY_LEVEL = {Priority.NORMAL, Priority.HIGH, Priority.LOW};

    private final GroupTable.Subscription subscription;
    private final LetterTable letters;
    private final Dispatcher dispatcher;
    private final Marks marks;
    private final int window;

    /** Numbers what is recorded about messages of a strand. */
    interface Marks {
        Mark of(Owned owned, Strand strand, List<Item> items);
    }

    Parking(GroupTable.Subscription subscription, LetterTable letters, Dispatcher dispatcher, Marks marks, int window) {
        this.subscription = subscription;
        this.letters = letters;
        this.dispatcher = dispatcher;
        this.marks = marks;
        this.window = window;
    }

    /** Finds the lines of partitions: which keys are blocked, and what is parked. Before anything of them is handled. */
    void find(Collection<Owned> partitions) {
        List<Line> lines =
                letters.lines(partitions.stream().map(Owned::partition).toList());
        dispatcher.lock().lock();
        try {
            for (Owned owned : partitions) {
                owned.parked = 0;
                for (Strand strand : owned.strands()) {
                    lines.stream()
                            .filter(line -> line.strand() == strand.number())
                            .forEach(line -> begin(owned, strand, line));
                }
            }
        } finally {
            dispatcher.lock().unlock();
        }
    }

    private void begin(Owned owned, Strand strand, Line line) {
        owned.parked += line.parked();
        String key = line.key();
        Run run;
        if (key != null) {
            run = strand.runs.computeIfAbsent(key, k -> new Run(owned, strand, k));
        } else {
            run = strand.keyless == null ? new Run(owned, strand, null) : strand.keyless;
            strand.keyless = run;
        }
        run.parked = true;
        run.stopped = line.stopped();
        if (!run.busy && !run.stopped) {
            dispatcher.enqueue(run);
        }
    }

    /** Carries out what was decided on dead letters. */
    void carryOut(long session, Collection<Owned> partitions) {
        if (letters.carryOut(session) > 0) {
            find(partitions);
        }
    }

    /** Copies aside what keys that wait have from the log: of all, or only if there is much. */
    void park(boolean all) {
        Map<Strand, List<Run>> runs = new LinkedHashMap<>();
        dispatcher.lock().lock();
        try {
            long now = System.nanoTime();
            List<Run> found = dispatcher.takeLater(run -> run.key != null
                    && !run.parked
                    && !isFull(run.owned)
                    && (now - run.failingSince > PARK_AFTER || run.waiting.size() > window / 4));
            List<Run> arrived = dispatcher.takeArrivals(run -> !isFull(run.owned));
            if (all || arrived.stream().mapToInt(run -> run.waiting.size()).sum() >= MANY_ARRIVALS) {
                found.addAll(arrived);
            } else {
                arrived.forEach(dispatcher::putBack);
            }
            found.forEach(run -> runs.computeIfAbsent(run.strand, strand -> new ArrayList<>())
                    .add(run));
        } finally {
            dispatcher.lock().unlock();
        }
        runs.forEach(this::park);
    }

    private void park(Strand strand, List<Run> runs) {
        Owned owned = runs.getFirst().owned;
        // Only this thread adds to what runs have from the log.
        List<Item> items = new ArrayList<>();
        runs.forEach(run -> items.addAll(run.waiting));
        items.sort(Comparator.comparingLong(item -> item.message.offset()));
        boolean parked = false;
        try {
            letters.park(marks.of(owned, strand, items));
            parked = true;
        } catch (Fenced e) {
            owned.lose();
        } finally {
            dispatcher.lock().lock();
            try {
                if (parked) {
                    runs.forEach(dispatcher::parked);
                }
                runs.forEach(dispatcher::putBack);
            } finally {
                dispatcher.lock().unlock();
            }
        }
    }

    private static boolean isFull(Owned owned) {
        return owned.parked >= MOST_PARKED;
    }

    /** Loads what comes next in lines whose turn it is; a key whose line has ended goes on with what comes from the log. */
    void load(long session) {
        List<Run> runs;
        dispatcher.lock().lock();
        try {
            runs = dispatcher.takeHeld(Run::mustBeLoaded);
        } finally {
            dispatcher.lock().unlock();
        }
        for (Run run : runs) {
            List<Item> items = List.of();
            boolean known = false;
            try {
                items = letters.line(run, BY_LEVEL[run.strand.number() / subscription.partitions()], LINE_AT_ONCE);
                if (items.isEmpty() && run.key != null) {
                    letters.unblock(session, run);
                }
                known = true;
            } catch (Fenced e) {
                run.owned.lose();
            } finally {
                dispatcher.lock().lock();
                try {
                    if (known) {
                        run.parked = !items.isEmpty();
                        dispatcher.offerParked(run, items);
                    } else {
                        dispatcher.hold(run);
                    }
                } finally {
                    dispatcher.lock().unlock();
                }
            }
        }
    }

    /** Partitions that wait because too much of them is parked. */
    void warn(Collection<Owned> partitions) {
        for (Owned owned : partitions) {
            if (isFull(owned)) {
                log.warn(
                        "partition {} has {} parked messages and waits: redrive or discard dead letters",
                        owned.partition(),
                        owned.parked);
            }
        }
    }
}
