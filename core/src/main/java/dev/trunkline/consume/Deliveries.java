package dev.trunkline.consume;

import dev.trunkline.Outcome;
import dev.trunkline.OutcomeUnknownException;
import dev.trunkline.RetryPolicy;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TrunklineException;
import dev.trunkline.consume.Dispatcher.Result;
import dev.trunkline.consume.LetterTable.Burial;
import dev.trunkline.consume.LetterTable.Fenced;
import dev.trunkline.consume.LetterTable.Mark;
import dev.trunkline.consume.Run.Item;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.Savepoint;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.spi.LoggingEventBuilder;

/**
 * What becomes of deliveries: the calls of consumers, each alone or several in one transaction; the note of a failure; the dead letter.
 */
final class Deliveries {

    private static final Logger log = LoggerFactory.getLogger(Deliveries.class);
    private static final long OUR_NEXT_TRY = TimeUnit.SECONDS.toNanos(1);
    private static final long NEXT_QUESTION = TimeUnit.MILLISECONDS.toNanos(200);
    private static final long PATIENCE = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long SETTLE_AFTER = TimeUnit.MILLISECONDS.toNanos(200);
    private static final int STACK_HEAD = 4_000;
    private static final int MOST_SAVEPOINTS = 50;

    private final Subject subject;
    private final String group;
    private final RetryPolicy retry;
    private final Duration timeout;
    private final Consumers<?> consumers;
    private final LetterTable letters;
    private final Cut cut;
    private final Health health;
    private final Monitor monitor;
    private final Parking.Marks marks;
    private final Early early;
    private final Predicate<Owned> live;

    Deliveries(
            Subject subject,
            SubscriptionOptions options,
            Consumers<?> consumers,
            LetterTable letters,
            Cut cut,
            Health health,
            Monitor monitor,
            Parking.Marks marks,
            Early early,
            Predicate<Owned> live) {
        this.subject = subject;
        this.group = subject.group();
        this.retry = options.retry();
        this.timeout = options.handlerTimeout();
        this.consumers = consumers;
        this.letters = letters;
        this.cut = cut;
        this.health = health;
        this.monitor = monitor;
        this.marks = marks;
        this.early = early;
        this.live = live;
    }

    /** Is told of messages that are over before the worker that has them comes back. */
    @FunctionalInterface
    interface Early {
        void over(Owned owned, List<Item> items);
    }

    Result deliver(Worker worker, Run run, List<Item> items) {
        return cut.isSingle() ? oneByOne(worker, run, items) : together(worker, run, items);
    }

    // ---- each alone ----

    private Result oneByOne(Worker worker, Run run, List<Item> items) {
        List<Item> handled = new ArrayList<>(); // and parked, and not yet recorded as done
        long since = System.nanoTime();
        int over = 0;
        Result last = DONE;
        for (Item item : items) {
            if (!live.test(run.owned)) {
                last = new Result(0, PATIENCE, false);
                break;
            }
            last = one(worker, run, item, items.subList(0, over), handled);
            over += last.over();
            if (last.over() == 0 || last.stopped()) {
                break;
            }
            if (System.nanoTime() - since > SETTLE_AFTER) {
                settle(run, handled);
                since = System.nanoTime();
            }
        }
        settle(run, handled);
        return new Result(over, last.delay(), last.stopped(), last.full());
    }

    private static final Result DONE = new Result(1, 0, false);
    /** What became of its messages was decided while the handler hung. */
    private static final Result ABANDONED = new Result(0, 0, false);

    private Result one(Worker worker, Run run, Item item, List<Item> before, List<Item> handled) {
        Throwable problem = null;
        boolean[] recorded = new boolean[1];
        List<Item> unit = List.of(item);
        long began = System.nanoTime();
        worker.begin(run, unit, before);
        try {
            item.rejected = !consumers.handle(item.message, item.failures + 1, run.owned.epoch(), body -> {
                transact(worker, run, marks.of(run.owned, run.strand, unit), connection -> {
                    worker.begin(run, unit, before);
                    body.on(connection);
                    return List.of();
                });
                recorded[0] = true;
            });
        } catch (Throwable e) { // whatever a handler throws, its message has failed and the worker goes on
            problem = e;
        }
        if (!worker.end()) {
            return ABANDONED;
        }
        if (problem != null) {
            return failed(run, unit, problem, before);
        }
        if (item.parked && !recorded[0]) {
            handled.add(item);
            return tell(unit, began);
        }
        return done(run, unit, began);
    }

    /** What is parked is done when it is taken out of there: soon after it was handled, as with what comes from the log. */
    private void settle(Run run, List<Item> handled) {
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

    private Result done(Run run, List<Item> items, long began) {
        forgetFailures(run, items);
        return tell(items, began);
    }

    private Result tell(List<Item> items, long began) {
        long took = (System.nanoTime() - began) / Math.max(1, items.size());
        for (Item item : items) {
            monitor.handled(item.message, took);
        }
        health.succeeded(items.size(), failedBefore(items));
        return items.size() == 1 ? DONE : new Result(items.size(), 0, false);
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

    // ---- in a transaction ----

    /** There was no connection for a handler: nobody's failure. */
    private static final class NotBegun extends Exception {
        private static final long serialVersionUID = 1L;

        NotBegun(Exception cause) {
            super(cause);
        }
    }

    /** The partition may belong to somebody else by now. */
    private static final class Late extends Exception {
        private static final long serialVersionUID = 1L;
    }

    /** The handler took so long that its message was given up. */
    private static final class Abandoned extends Exception {
        private static final long serialVersionUID = 1L;
    }

    /** Runs something in a transaction. Until there is a connection nothing has begun, and no time counts. */
    private void transact(Worker worker, Run run, Mark mark, LetterTable.Body body) throws Exception {
        endOf(worker);
        boolean[] begun = new boolean[1];
        try {
            letters.transact(mark, timeout.toMillis() + 1, connection -> {
                if (!live.test(run.owned)) {
                    throw new Late();
                }
                begun[0] = true;
                List<Burial> burials = body.on(connection);
                endOf(worker);
                return burials;
            });
        } catch (Exception e) {
            if (!begun[0]) {
                throw new NotBegun(e);
            }
            // To try again before it is known could do it twice.
            if (!(e instanceof OutcomeUnknownException) || !letters.wasRecorded(mark)) {
                throw e;
            }
        }
    }

    private static void endOf(Worker worker) throws Abandoned {
        if (!worker.end()) {
            throw new Abandoned();
        }
    }

    /** First all at once; if that fails, again with a savepoint before each unit, to find the one that fails. */
    private Result together(Worker worker, Run run, List<Item> items) {
        if (!live.test(run.owned)) {
            return new Result(0, PATIENCE, false);
        }
        List<List<Item>> units = cut.units(items);
        long began = System.nanoTime();
        Throwable problem = null;
        try {
            transact(worker, run, marks.of(run.owned, run.strand, items), connection -> {
                for (List<Item> unit : units) {
                    handle(worker, run, unit, connection);
                }
                return List.of();
            });
        } catch (Throwable e) { // whatever a handler throws, its messages have failed and the worker goes on
            problem = e;
        }
        if (!worker.end()) { // whatever came of it since: it was not committed
            return ABANDONED;
        }
        if (problem == null) {
            return done(run, items, began);
        }
        return units.size() == 1 || isOurs(problem)
                ? failed(run, units.getFirst(), problem)
                : apart(worker, run, units);
    }

    /** A unit has the time that a handler may take, whatever came before it in its transaction. */
    private void handle(Worker worker, Run run, List<Item> unit, Connection connection) throws Exception {
        endOf(worker);
        worker.begin(run, unit, List.of());
        for (Item item : unit) {
            item.rejected = !item.strand.wants(item.message)
                    || !consumers.handle(
                            item.message, item.failures + 1, run.owned.epoch(), body -> body.on(connection));
        }
    }

    private Result apart(Worker worker, Run run, List<List<Item>> all) {
        List<List<Item>> units = all.subList(0, Math.min(all.size(), MOST_SAVEPOINTS));
        List<Item> good = new ArrayList<>();
        List<Item> over = new ArrayList<>();
        boolean[] stopped = new boolean[1];
        List<Item>[] bad = newUnit();
        Throwable[] why = new Throwable[1];
        long began = System.nanoTime();
        Throwable problem = null;
        try {
            transact(worker, run, marks.of(run.owned, run.strand, good), connection -> {
                List<Burial> burials = new ArrayList<>();
                for (List<Item> unit : units) {
                    Savepoint savepoint = connection.setSavepoint();
                    try {
                        handle(worker, run, unit, connection);
                        connection.releaseSavepoint(savepoint);
                        good.addAll(unit);
                    } catch (Throwable e) { // it goes to the dead letters, or waits for its next try
                        endOf(worker);
                        connection.rollback(savepoint);
                        if (isOurs(e) || !isOver(unit, e)) {
                            bad[0] = unit;
                            why[0] = e;
                            break;
                        }
                        if (!isRejected(e)) {
                            blame(unit, e);
                        }
                        monitor.failed(unit.getFirst().message, unit.getFirst().failures + 1, e);
                        unit.forEach(item -> item.failures++);
                        burials.add(burial(run, unit, e));
                        stopped[0] = stops(run);
                    }
                    over.addAll(unit);
                    if (stopped[0]) {
                        break; // what comes after it on its key waits
                    }
                }
                return burials;
            });
        } catch (Throwable e) { // not committed: all of it has to be done again
            problem = e;
        }
        if (!worker.end()) {
            return ABANDONED;
        }
        if (problem != null) { // one that fails when it is committed is found alone
            return units.size() == 1 || isOurs(problem)
                    ? failed(run, units.getFirst(), problem)
                    : apart(worker, run, units.subList(0, 1));
        }
        done(run, good, began);
        List<Item> failedUnit = bad[0];
        if (failedUnit == null || why[0] == null) {
            return new Result(over.size(), 0, stopped[0]);
        }
        Result next = failed(run, failedUnit, why[0]);
        return new Result(over.size() + next.over(), next.delay(), next.stopped(), next.full());
    }

    @SuppressWarnings("unchecked") // an array of one, for what a lambda finds
    private static List<Item>[] newUnit() {
        return (List<Item>[]) new List<?>[1];
    }

    // ---- what failed ----

    /** Whether it was not the handler that failed. */
    private static boolean isOurs(Throwable problem) {
        return problem instanceof Fenced || problem instanceof NotBegun || problem instanceof Consumers.Busy;
    }

    private boolean isOver(List<Item> unit, Throwable problem) {
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

    private Result failed(Run run, List<Item> unit, Throwable problem) {
        return failed(run, unit, problem, List.of());
    }

    /**
     * Notes a failure of a unit, or gives it up.
     *
     * @param before what the worker has handled before it, which must be recorded before it is given up
     */
    private Result failed(Run run, List<Item> unit, Throwable problem, List<Item> before) {
        Item first = unit.getFirst();
        if (problem instanceof Fenced) {
            run.owned.lose();
            return new Result(0, 1, false);
        }
        if (problem instanceof NotBegun) {
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
