package dev.trunkline.consume;

import dev.trunkline.consume.LetterTable.Burial;
import dev.trunkline.consume.LetterTable.Fenced;
import dev.trunkline.consume.Run.Item;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds a message that kills its process. After a process has died, what it may have had under way is noted, some at a time, before it
 * is started. What was noted when the next one dies is handled alone in its process; and what was handled alone when a third
 * one dies is a dead letter. A death for other reasons costs a few notes, and blames nobody.
 */
final class Suspicion {

    private static final Logger log = LoggerFactory.getLogger(Suspicion.class);
    private static final int AT_ONCE = 64;

    private final LetterTable letters;
    private final Dispatcher dispatcher;
    private final Solitude solitude;
    private final Parking.Marks marks;
    private final boolean stops;
    private boolean noted;

    /** @param stops whether a dead letter stops its key */
    Suspicion(LetterTable letters, Dispatcher dispatcher, Solitude solitude, Parking.Marks marks, boolean stops) {
        this.letters = letters;
        this.dispatcher = dispatcher;
        this.solitude = solitude;
        this.marks = marks;
        this.stops = stops;
    }

    /**
     * Lets suspects be handled, if none is under way.
     *
     * @param quiet whether no handler runs in this process
     * @return whether one waits to be alone
     */
    boolean look(long session, BooleanSupplier quiet) {
        List<Run> some = new ArrayList<>();
        List<Run> prime = new ArrayList<>();
        dispatcher.lock().lock();
        try {
            if (dispatcher.noted() > 0) {
                return false;
            }
            List<Run> runs = dispatcher.takeHeld(run -> !run.mustBeLoaded());
            for (Run run : runs) {
                Item head = run.front().peekFirst();
                boolean alone = head != null && head.strand.mustRunAlone(head.message.offset());
                (alone ? prime : some).add(run);
            }
            while (some.size() > AT_ONCE) {
                dispatcher.hold(some.removeLast());
            }
            if (!some.isEmpty()) {
                prime.forEach(dispatcher::hold);
            }
        } finally {
            dispatcher.lock().unlock();
        }
        if (!some.isEmpty()) {
            note(session, some, false);
            return false;
        }
        if (!prime.isEmpty()) {
            return !alone(session, prime, quiet);
        }
        if (noted) {
            letters.noteSuspects(session, List.of(), false);
            noted = false;
        }
        return false;
    }

    private void note(long session, List<Run> runs, boolean alone) {
        boolean done = false;
        try {
            letters.noteSuspects(
                    session, runs.stream().map(run -> run.front().getFirst()).toList(), alone);
            noted = true;
            done = true;
        } finally {
            dispatcher.lock().lock();
            try {
                if (done) {
                    dispatcher.note(runs);
                } else {
                    runs.forEach(dispatcher::hold);
                }
            } finally {
                dispatcher.lock().unlock();
            }
        }
    }

    /** Handles the first of them alone, as soon as it is. */
    private boolean alone(long session, List<Run> runs, BooleanSupplier quiet) {
        Run first = runs.getFirst();
        Item head = first.front().getFirst();
        dispatcher.lock().lock();
        try {
            runs.stream().skip(1).forEach(dispatcher::hold);
        } finally {
            dispatcher.lock().unlock();
        }
        if (head.strand.isCondemned(head.message.offset())) {
            condemn(first, head);
            return true;
        }
        boolean mine = solitude.claim(first) && quiet.getAsBoolean();
        if (mine) {
            log.warn("{} is handled alone: two processes died while it was under way", head.message);
            note(session, List.of(first), true);
        } else {
            dispatcher.lock().lock();
            try {
                dispatcher.hold(first);
            } finally {
                dispatcher.lock().unlock();
            }
        }
        return mine;
    }

    private void condemn(Run run, Item head) {
        log.error(
                "{} is a dead letter: three processes died while it was under way, the last one of it alone",
                head.message);
        boolean stop = stops && run.key != null;
        boolean buried = false;
        try {
            letters.bury(new Burial(
                    marks.of(run.owned, run.strand, List.of(head)),
                    head.failures,
                    "three processes died while it was being handled; the last one handled nothing else",
                    "",
                    stop));
            buried = true;
        } catch (Fenced e) {
            run.owned.lose();
        } finally {
            dispatcher.lock().lock();
            try {
                if (buried) {
                    dispatcher.remove(run, stop);
                    dispatcher.enqueue(run);
                } else {
                    dispatcher.hold(run);
                }
            } finally {
                dispatcher.lock().unlock();
            }
        }
    }
}
