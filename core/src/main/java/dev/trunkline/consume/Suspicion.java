package dev.trunkline.consume;

import dev.trunkline.consume.LetterTable.Burial;
import dev.trunkline.consume.LetterTable.Fenced;
import dev.trunkline.consume.Run.Item;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
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

    private final Subject subject;
    private final LetterTable letters;
    private final Dispatcher dispatcher;
    private final Runs runs;
    private final Solitude solitude;
    private final Parking.Marks marks;
    private final boolean stops;
    private boolean noted;

    /** @param stops whether a dead letter stops its key */
    Suspicion(
            Subject subject,
            LetterTable letters,
            Dispatcher dispatcher,
            Runs runs,
            Solitude solitude,
            Parking.Marks marks,
            boolean stops) {
        this.subject = subject;
        this.letters = letters;
        this.dispatcher = dispatcher;
        this.runs = runs;
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
        dispatcher.locked(() -> choose(some, prime));
        if (!some.isEmpty()) {
            note(session, some, false);
        } else if (!prime.isEmpty()) {
            return !alone(session, prime.getFirst(), quiet);
        } else if (noted && dispatcher.locked(runs::noted) == 0) {
            letters.noteSuspects(session, List.of(), false);
            noted = false;
        }
        return false;
    }

    /**
     * Some suspects at a time; and only if there are none, one that must be alone. It waits until all others have ended, so from then on none is
     * noted before it: that one could not begin.
     */
    private void choose(List<Run> some, List<Run> prime) {
        if (runs.noted() > 0) {
            return;
        }
        for (Run run : runs.takeHeld(each -> !each.mustBeLoaded())) {
            Item head = run.front().peekFirst();
            boolean alone = head != null && head.strand.mustRunAlone(head.message.offset());
            (alone ? prime : some).add(run);
        }
        prime.sort(Comparator.comparing(run -> !solitude.isOf(run)));
        int most = !prime.isEmpty() && solitude.isOf(prime.getFirst()) ? 0 : AT_ONCE;
        while (some.size() > most) {
            runs.hold(some.removeLast());
        }
        while (prime.size() > (some.isEmpty() ? 1 : 0)) {
            runs.hold(prime.removeLast());
        }
    }

    /**
     * The group is paused. Others do not wait for the one of it that wanted to be alone, unless it has begun; and should the process die
     * now, it did not die of it.
     */
    void pause(long session, Predicate<Owned> its) {
        Optional<Item> innocent = dispatcher.locked(() -> {
            Optional<Item> putOff = Optional.ofNullable(runs.putOffAlone());
            solitude.releaseIf(run -> its.test(run.owned) && !run.isWithWorker);
            return putOff;
        });
        innocent.ifPresent(item -> letters.noteSuspects(session, List.of(item), false));
    }

    private void note(long session, List<Run> some, boolean alone) {
        boolean done = false;
        try {
            letters.noteSuspects(
                    session, some.stream().map(run -> run.front().getFirst()).toList(), alone);
            noted = true;
            done = true;
        } finally {
            boolean now = done;
            dispatcher.locked(() -> {
                if (now && alone) {
                    some.forEach(runs::noteAlone);
                } else if (now) {
                    runs.note(some);
                } else {
                    some.forEach(runs::hold);
                }
            });
        }
    }

    /** Handles a run alone, as soon as it is. */
    private boolean alone(long session, Run run, BooleanSupplier quiet) {
        Item head = run.front().getFirst();
        if (head.strand.isCondemned(head.message.offset())) {
            condemn(run, head);
            return true;
        }
        boolean mine = solitude.claim(run) && quiet.getAsBoolean();
        if (mine) {
            subject.of(log.atWarn(), head.message.partition())
                    .log("{} is handled alone: two processes died while it was under way", head.message);
            note(session, List.of(run), true);
        } else {
            dispatcher.locked(() -> runs.hold(run));
        }
        return mine;
    }

    private void condemn(Run run, Item head) {
        subject.of(log.atError(), head.message.partition())
                .log(
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
            boolean now = buried;
            dispatcher.locked(() -> {
                if (now) {
                    head.strand.clear(head.message.offset());
                    runs.remove(run, stop);
                } else {
                    runs.hold(run);
                }
            });
        }
    }
}
