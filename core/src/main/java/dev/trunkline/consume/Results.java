package dev.trunkline.consume;

import dev.trunkline.Outcome;
import dev.trunkline.RetryPolicy;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TrunklineException;
import dev.trunkline.consume.Dispatcher.Result;
import dev.trunkline.consume.LetterTable.Burial;
import dev.trunkline.consume.LetterTable.Fenced;
import dev.trunkline.consume.Run.Item;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.spi.LoggingEventBuilder;

/** What comes of messages once their handler has returned, well or not, or hangs: what is told, noted and taken out of what is parked; the next try; the dead letter. */
final class Results {

    private static final Logger log = LoggerFactory.getLogger(Results.class);
    private static final long OUR_NEXT_TRY = TimeUnit.SECONDS.toNanos(1);
    private static final long NEXT_QUESTION = TimeUnit.MILLISECONDS.toNanos(200);
    private static final int STACK_HEAD = 4_000;

    private final Subject subject;
    private final String group;
    private final RetryPolicy retry;
    private final Duration timeout;
    private final LetterTable letters;
    private final Cut cut;
    private final Health health;
    private final Monitor monitor;
    private final Parking.Marks marks;
    private final Early early;

    Results(
            Subject subject,
            SubscriptionOptions options,
            LetterTable letters,
            Cut cut,
            Health health,
            Monitor monitor,
            Parking.Marks marks,
            Early early) {
        this.subject = subject;
        this.group = subject.group();
        this.retry = options.retry();
        this.timeout = options.handlerTimeout();
        this.letters = letters;
        this.cut = cut;
        this.health = health;
        this.monitor = monitor;
        this.marks = marks;
        this.early = early;
    }

    /** Is told of messages that are over before the worker that has them comes back. */
    @FunctionalInterface
    interface Early {
        void over(Owned owned, List<Item> items);
    }

    // ---- what is done ----

    Result done(Run run, List<Item> items, long began) {
        forgetFailures(run, items);
        return tell(items, began);
    }

    Result tell(List<Item> items, long began) {
        long took = (System.nanoTime() - began) / Math.max(1, items.size());
        for (Item item : items) {
            monitor.handled(item.message, took);
        }
        health.succeeded(items.size(), failedBefore(items));
        return new Result(items.size(), 0, false);
    }

    private void forgetFailures(Run run, List<Item> items) {
        List<Item> failedBefore = failedBefore(items);
        if (failedBefore.isEmpty()) {
            return;
        }
        try {
            letters.forgetFailures(session(run, failedBefore), failedBefore);
        } catch (TrunklineException e) {
            about(log.atWarn(), items)
                    .log("{}: the failures of {} are still noted: {}", group, items.getFirst().message, e.getMessage());
        }
    }

    private long session(Run run, List<Item> items) {
        return marks.of(run.owned, run.strand, items).session();
    }

    private static List<Item> failedBefore(List<Item> items) {
        for (Item item : items) {
            if (item.failures > 0 || item.parked) {
                return items.stream()
                        .filter(each -> each.failures > 0 || each.parked)
                        .toList();
            }
        }
        return List.of();
    }

    /** What is parked is done when it is taken out of there: soon after it was handled, as with what comes from the log. */
    void settle(Run run, List<Item> handled) {
        if (handled.isEmpty()) {
            return;
        }
        while (!run.owned.isLost()) {
            try {
                settleNow(run, List.copyOf(handled));
                break;
            } catch (Fenced e) {
                run.owned.lose();
            } catch (TrunklineException e) {
                about(log.atWarn(), handled)
                        .log(
                                "{}: {} is done, which could not be recorded yet: {}",
                                group,
                                handled.getFirst().message,
                                e.getMessage());
                LockSupport.parkNanos(NEXT_QUESTION);
            }
        }
        handled.clear();
    }

    private void settleNow(Run run, List<Item> parked) throws Fenced {
        letters.settle(marks.of(run.owned, run.strand, parked));
        forgetFailures(run, parked);
    }

    /** Records what a worker has handled before a message that is given up: it must not come again after that. */
    private void conclude(Run run, List<Item> before) throws Fenced {
        early.over(run.owned, before);
        List<Item> parked = before.stream().filter(item -> item.parked).toList();
        if (!parked.isEmpty()) {
            settleNow(run, parked);
        }
    }

    // ---- what failed ----

    /** Whether it was not the handler that failed. */
    static boolean isOurs(Throwable problem) {
        return problem instanceof Fenced
                || problem instanceof Transactions.NotBegun
                || problem instanceof Consumers.Busy;
    }

    boolean isOver(List<Item> unit, Throwable problem) {
        boolean last = unit.getFirst().failures + 1 >= retry.attempts();
        return isRejected(problem) || (last && !health.isFailing());
    }

    /** Whether it is the message, whoever handles it, and another try would not help. */
    private static boolean isRejected(Throwable problem) {
        return problem instanceof Consumers.Undecodable
                || (problem instanceof Outcome.Undone undone && undone.outcome() instanceof Outcome.Reject);
    }

    /** A failure that may be the handler's: if most messages fail, it is. */
    private void blame(List<Item> unit, Throwable problem) {
        if (health.failed(unit.getFirst())) {
            about(log.atError(), unit)
                    .log(
                            "{}: most messages fail, so it is the handler that fails: the group tries them slowly, reads a few more at most"
                                    + " and gives none up until that is over. The last one, {}: {}",
                            group,
                            unit.getFirst().message,
                            problem.toString());
        }
    }

    /** Whether a message that is given up stops its run. */
    boolean stops(Run run) {
        return cut.parks() && run.key != null && retry.exhausted() == RetryPolicy.Exhausted.PARK_KEY;
    }

    /**
     * Notes a failure of a unit, or gives it up.
     *
     * @param before what the worker has handled before it, which must be recorded before it is given up
     */
    Result failed(Run run, List<Item> unit, Throwable problem, List<Item> before) {
        Item first = unit.getFirst();
        if (problem instanceof Fenced) {
            run.owned.lose();
            return new Result(0, 1, false);
        }
        if (problem instanceof Transactions.NotBegun) {
            return new Result(0, OUR_NEXT_TRY, false);
        }
        if (problem instanceof Consumers.Busy busy) {
            return new Result(0, 0, false, busy.limit);
        }
        if (!isRejected(problem)) {
            blame(unit, problem);
        }
        boolean over = isOver(unit, problem);
        unit.forEach(item -> item.failures++);
        monitor.failed(first.message, first.failures, problem);
        Duration delay = retry.delay(first.failures);
        if (health.isFailing()) {
            delay = retry.longest();
        } else if (problem instanceof Outcome.Undone undone && undone.outcome() instanceof Outcome.RetryAfter again) {
            delay = again.delay();
        }
        try {
            if (over) {
                conclude(run, before);
                letters.bury(burial(run, unit, problem));
                return new Result(unit.size(), 0, stops(run));
            }
            log.info(
                    "{}: {} failed for the {}. time, next try in {} ms: {}",
                    group,
                    first.message,
                    first.failures,
                    delay.toMillis(),
                    problem.toString());
            letters.noteFailures(session(run, unit), unit, printable(problem.toString()));
            return new Result(0, Math.max(1, delay.toNanos()), false);
        } catch (Fenced e) {
            run.owned.lose();
            return new Result(0, 1, false);
        } catch (TrunklineException e) {
            about(log.atWarn(), unit)
                    .log("{}: the failure of {} could not be noted: {}", group, first.message, e.getMessage());
            unit.forEach(item -> item.failures--);
            return new Result(0, OUR_NEXT_TRY, false);
        }
    }

    /** Gives a unit up whose effects were taken back, in a transaction that goes on. */
    Burial giveUp(Run run, List<Item> unit, Throwable problem) {
        if (!isRejected(problem)) {
            blame(unit, problem);
        }
        unit.forEach(item -> item.failures++);
        monitor.failed(unit.getFirst().message, unit.getFirst().failures, problem);
        return burial(run, unit, problem);
    }

    /** Gives up messages whose handler does not return. Whether that was done, or who owns them now decides on them. */
    boolean abandon(Run run, List<Item> unit, List<Item> before) {
        if (run.owned.isLost()) {
            return true;
        }
        Throwable problem =
                new IllegalStateException("its handler was interrupted after " + timeout + " and did not return");
        blame(unit, problem);
        if (health.isFailing()) {
            return false;
        }
        unit.forEach(item -> item.failures++);
        try {
            conclude(run, before);
            letters.bury(burial(run, unit, problem));
            return true;
        } catch (Fenced e) {
            run.owned.lose();
            return true;
        } catch (TrunklineException e) {
            about(log.atWarn(), unit)
                    .log("{}: {} hangs and could not be given up: {}", group, unit.getFirst().message, e.getMessage());
        }
        unit.forEach(item -> item.failures--);
        return false;
    }

    private LoggingEventBuilder about(LoggingEventBuilder line, List<Item> items) {
        return subject.of(line, items.getFirst().message.partition());
    }

    private Burial burial(Run run, List<Item> unit, Throwable problem) {
        StringWriter stack = new StringWriter();
        problem.printStackTrace(new PrintWriter(stack));
        String head = stack.toString();
        Item first = unit.getFirst();
        about(log.atWarn(), unit)
                .log(
                        "{}: {} is a dead letter after {} attempts: {}",
                        group,
                        first.message,
                        first.failures,
                        problem.toString());
        unit.forEach(item -> monitor.deadLettered(item.message, problem.toString()));
        return new Burial(
                marks.of(run.owned, run.strand, unit),
                first.failures,
                printable(problem.toString()),
                printable(head.length() > STACK_HEAD ? head.substring(0, STACK_HEAD) : head),
                stops(run));
    }

    /** PostgreSQL stores no NUL, and half a character might be left at the end. */
    private static String printable(String text) {
        return new String(text.replace('\0', ' ').getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
    }
}
