package dev.trunkline.consume;

import dev.trunkline.consume.LetterTable.Fenced;
import dev.trunkline.consume.LetterTable.Line;
import dev.trunkline.consume.LetterTable.Mark;
import dev.trunkline.consume.Run.Item;
import dev.trunkline.log.Levels;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;
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
    private static final long LINE_BYTES = 1024 * 1024;

    private final Subject subject;
    private final GroupTable.Subscription subscription;
    private final LetterTable letters;
    private final Cut cut;
    private final Dispatcher dispatcher;
    private final Runs runs;
    private final Marks marks;
    private final int window;
    private boolean behind;

    /** Numbers what is recorded about messages of a strand. */
    interface Marks {
        Mark of(Owned owned, Strand strand, List<Item> items);
    }

    Parking(
            Subject subject,
            GroupTable.Subscription subscription,
            LetterTable letters,
            Cut cut,
            Dispatcher dispatcher,
            Runs runs,
            Marks marks,
            int window) {
        this.subject = subject;
        this.subscription = subscription;
        this.letters = letters;
        this.cut = cut;
        this.dispatcher = dispatcher;
        this.runs = runs;
        this.marks = marks;
        this.window = window;
    }

    /** Finds the lines of partitions: which keys are blocked, and what is parked. Before anything of them is handled. */
    void find(Collection<Owned> partitions) {
        long stops = dispatcher.locked(runs::stops);
        List<Line> lines =
                letters.lines(partitions.stream().map(Owned::partition).toList());
        dispatcher.locked(() -> {
            behind = false;
            for (Owned owned : partitions) {
                owned.parked = 0;
                for (Strand strand : owned.strands()) {
                    lines.stream()
                            .filter(line -> line.strand() == strand.number())
                            .forEach(line -> begin(owned, strand, line, stops));
                }
            }
        });
    }

    /** @param stops how many runs had been stopped before the line was looked up: what it says of one that was stopped since is out of date */
    private void begin(Owned owned, Strand strand, Line line, long stops) {
        owned.parked += line.parked();
        if (!cut.parks() && line.stopped()) {
            return; // of a time when keys waited: until somebody decides on the dead letter
        }
        String key = cut.parks() ? line.key() : null;
        Run run;
        if (key != null) {
            run = strand.runs.computeIfAbsent(key, k -> new Run(owned, strand, k));
        } else {
            run = strand.keyless == null ? new Run(owned, strand, null) : strand.keyless;
            strand.keyless = run;
        }
        if (run.isWithWorker || run.stoppedAs > stops) {
            // What comes back from the worker must not fall behind what is parked, and may stop the run
            // for a dead letter that is gone by now: look again later.
            behind = true;
            return;
        }
        run.parked = true;
        run.stopped = line.stopped();
        runs.putBackArrivals(run);
        if (!run.busy && !run.stopped) {
            runs.enqueue(run);
        }
    }

    /** Carries out what was decided on dead letters. */
    void carryOut(long session, Collection<Owned> partitions) {
        behind = true; // should the answer be lost
        letters.carryOut(session);
        find(partitions);
    }

    /** Finds lines again that could not be begun. */
    void catchUp(Collection<Owned> partitions) {
        if (behind) {
            find(partitions);
        }
    }

    /** Copies aside what keys that wait have from the log: of all, or only if there is much. */
    void park(boolean all) {
        long now = System.nanoTime();
        parkAll(
                dispatcher.locked(() -> runs.takeLater(run -> cut.parks()
                        && run.key != null
                        && !run.parked
                        && run.failingSince != 0
                        && !isFull(run.owned)
                        && (now - run.failingSince > PARK_AFTER || run.waiting.size() > window / 4))),
                runs::putBackLater);
        parkAll(
                dispatcher.locked(() -> {
                    List<Run> arrivals = runs.takeArrivals(run -> !isFull(run.owned));
                    if (all
                            || arrivals.stream()
                                            .mapToInt(run -> run.waiting.size())
                                            .sum()
                                    >= MANY_ARRIVALS) {
                        return arrivals;
                    }
                    arrivals.forEach(runs::putBackArrivals);
                    return List.<Run>of();
                }),
                runs::putBackArrivals);
    }

    private void parkAll(List<Run> some, Consumer<Run> putBack) {
        if (some.isEmpty()) {
            return;
        }
        try {
            some.stream()
                    .collect(Collectors.groupingBy(run -> run.strand))
                    .forEach((strand, its) -> park(its.getFirst().owned, strand, its));
        } finally {
            dispatcher.locked(() -> some.forEach(putBack));
        }
    }

    private void park(Owned owned, Strand strand, List<Run> its) {
        // Only this thread adds to what runs have from the log.
        List<Item> items = new ArrayList<>();
        its.forEach(run -> items.addAll(run.waiting));
        items.sort(Comparator.comparingLong(item -> item.message.offset()));
        try {
            letters.park(marks.of(owned, strand, items));
            dispatcher.locked(() -> its.forEach(runs::parked));
        } catch (Fenced e) {
            owned.lose();
        }
    }

    private static boolean isFull(Owned owned) {
        return owned.parked >= MOST_PARKED;
    }

    /**
     * Loads what comes next in lines whose turn it is, as long as there is room; a key whose line has ended goes on with what comes from the
     * log.
     */
    void load(long session) {
        ArrayDeque<Run> left = new ArrayDeque<>(dispatcher.locked(() -> runs.takeHeld(Run::mustBeLoaded)));
        try {
            while (!left.isEmpty() && dispatcher.locked(runs::loadedBytes) <= Intake.MOST_BYTES) {
                load(session, left.getFirst());
                left.removeFirst();
            }
        } finally {
            if (!left.isEmpty()) {
                dispatcher.locked(() -> {
                    left.forEach(runs::hold);
                    runs.wantRoom();
                });
            }
        }
    }

    private void load(long session, Run run) {
        List<Item> items = letters.line(
                run,
                Levels.priority(run.strand.number(), subscription.partitions()),
                !cut.parks(),
                cut.isWork() ? cut.longest() : LINE_AT_ONCE,
                cut.isWork() ? Long.MAX_VALUE : LINE_BYTES);
        if (items.isEmpty()) {
            try {
                letters.unblock(session, run);
            } catch (Fenced e) {
                run.owned.lose();
            }
        }
        dispatcher.locked(() -> runs.offerParked(run, items));
    }

    /** Partitions that wait because too much of them is parked. */
    void warn(Collection<Owned> partitions) {
        for (Owned owned : partitions) {
            if (isFull(owned)) {
                subject.of(log.atWarn(), owned.partition())
                        .log(
                                "partition {} has {} parked messages and waits: redrive or discard dead letters",
                                owned.partition(),
                                owned.parked);
            }
        }
    }
}
