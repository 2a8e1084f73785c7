package dev.trunkline.consume;

import dev.trunkline.DatabaseUnavailableException;
import dev.trunkline.Outcome;
import dev.trunkline.OutcomeUnknownException;
import dev.trunkline.RetryPolicy;
import dev.trunkline.TrunklineException;
import dev.trunkline.consume.Owned.Item;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.ToLongFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What becomes of a delivery: the call of a consumer, in a transaction if it wants one; the note of a failure; the dead letter. */
final class Deliveries {

    private static final Logger log = LoggerFactory.getLogger(Deliveries.class);
    private static final Duration NEXT_TRY_OF_OURS = Duration.ofSeconds(1);
    private static final long NEXT_QUESTION = Duration.ofMillis(200).toNanos();
    private static final int STACK_HEAD = 4_000;

    private final String group;
    private final int subscription;
    private final RetryPolicy retry;
    private final Consumers<?> consumers;
    private final GroupTable table;
    private final ToLongFunction<Strand> sequences;

    /** @param sequences gives the number of the next record of a strand */
    Deliveries(
            String group,
            int subscription,
            RetryPolicy retry,
            Consumers<?> consumers,
            GroupTable table,
            ToLongFunction<Strand> sequences) {
        this.group = group;
        this.subscription = subscription;
        this.retry = retry;
        this.consumers = consumers;
        this.table = table;
        this.sequences = sequences;
    }

    /** Delivers a message. Returns how long to wait before the next try, zero or less if it is over, well or not. */
    long deliver(long session, Owned partition, Item item) {
        try {
            consumers.handle(
                    item.message,
                    item.failures + 1,
                    partition.epoch(),
                    body -> transact(session, partition, item, body));
        } catch (GroupTable.Fenced e) {
            partition.lose();
            return 1;
        } catch (NotBegun e) {
            return NEXT_TRY_OF_OURS.toNanos();
        } catch (Throwable problem) { // whatever a handler throws, its message has failed and the worker goes on
            return failed(session, partition, item, problem);
        }
        if (item.failures > 0) {
            forget(item);
        }
        return 0;
    }

    /** There was no connection for a handler: nobody's failure. */
    private static final class NotBegun extends Exception {
        private static final long serialVersionUID = 1L;
    }

    private void transact(long session, Owned partition, Item item, Consumers.Transaction.Body body) throws Exception {
        GroupTable.Mark mark = new GroupTable.Mark(
                session,
                subscription,
                partition,
                item.strand,
                sequences.applyAsLong(item.strand),
                item.message.offset());
        boolean[] begun = new boolean[1];
        try {
            table.transact(mark, connection -> {
                begun[0] = true;
                body.on(connection);
            });
        } catch (OutcomeUnknownException e) {
            if (!begun[0] || !wasCommitted(mark, partition)) {
                throw e;
            }
        } catch (DatabaseUnavailableException e) {
            if (!begun[0]) {
                throw new NotBegun();
            }
            throw e;
        }
    }

    /** Asks until it is known: to try again before that could do it twice. Who lost the partition need not know. */
    private boolean wasCommitted(GroupTable.Mark mark, Owned partition) throws GroupTable.Fenced {
        while (!partition.isStopped()) {
            try {
                return table.isRecorded(mark);
            } catch (TrunklineException e) {
                log.warn("{}: not yet known whether {} was committed: {}", group, mark.offset(), e.getMessage());
                Thread.interrupted(); // a handler that is hurried must still know
                LockSupport.parkNanos(NEXT_QUESTION);
            }
        }
        throw new GroupTable.Fenced();
    }

    private void forget(Item item) {
        try {
            table.forgetFailures(subscription, item);
        } catch (TrunklineException e) {
            log.warn("{}: the failures of {} are still noted: {}", group, item.message, e.getMessage());
        }
    }

    /** Notes a failure, or gives the message up. Returns the delay before the next try. */
    private long failed(long session, Owned partition, Item item, Throwable problem) {
        item.failures++;
        Duration delay = retry.delay(item.failures);
        boolean over = item.failures >= retry.attempts() || problem instanceof Consumers.Undecodable;
        if (problem instanceof Outcome.Undone undone) {
            switch (undone.outcome()) {
                case Outcome.RetryAfter retry -> delay = retry.delay();
                case Outcome.Reject reject -> over = true;
                case Outcome.Done done -> {
                    return 0;
                }
            }
        }
        try {
            if (over) {
                return giveUp(session, partition, item, problem);
            }
            log.info(
                    "{}: {} failed for the {}. time, next try in {} ms: {}",
                    group,
                    item.message,
                    item.failures,
                    delay.toMillis(),
                    problem.toString());
            table.noteFailure(subscription, item, problem.toString());
        } catch (TrunklineException e) {
            log.warn("{}: the failure of {} could not be noted: {}", group, item.message, e.getMessage());
            if (over) {
                item.failures--;
                delay = NEXT_TRY_OF_OURS;
            }
        }
        return Math.max(1, delay.toNanos());
    }

    private long giveUp(long session, Owned partition, Item item, Throwable problem) {
        StringWriter stack = new StringWriter();
        problem.printStackTrace(new PrintWriter(stack));
        String head = stack.toString();
        boolean buried = table.bury(
                session,
                subscription,
                partition,
                item,
                sequences.applyAsLong(item.strand),
                printable(problem.toString()),
                printable(head.length() > STACK_HEAD ? head.substring(0, STACK_HEAD) : head));
        if (!buried) {
            partition.lose();
            return 1;
        }
        log.warn(
                "{}: {} is a dead letter after {} attempts: {}",
                group,
                item.message,
                item.failures,
                problem.toString());
        return 0;
    }

    /** PostgreSQL stores no NUL, and half a character might be left at the end. */
    private static String printable(String text) {
        return new String(text.replace('\0', ' ').getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
    }
}
