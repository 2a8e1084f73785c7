package dev.trunkline.publish;

import dev.trunkline.DatabaseUnavailableException;
import dev.trunkline.OutcomeUnknownException;
import dev.trunkline.Receipt;
import dev.trunkline.TrunklineException;
import dev.trunkline.UnknownTopicException;
import dev.trunkline.database.Failure;
import dev.trunkline.topic.TopicCatalogue;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The submissions for one topic and the batches under way. A batch is whatever gathered while the last one was in flight:
 * nobody waits for company when nothing is under way. Callers that shared a batch come back at about the same time, so
 * after a batch of several the next take-off waits for most of them, for a fraction of what a flight takes. A second flight
 * takes off only when a good load is waiting.
 *
 * <p>Calls made one after the other without waiting keep their order within each key: a submission does not board while
 * a key of it is in flight, or waits in front of it, for a caller that did not wait.
 */
final class Flights {

    private static final int MOST_MESSAGES = 1_000;
    private static final int MOST_BYTES = 8 * 1024 * 1024;
    /** From this size on, waiting for the append lock is cheaper than the detour through the outbox. */
    private static final int LARGE = 50;

    private static final int MOST_FLYING = 2;
    private static final long BOARDING_NANOS = TimeUnit.MICROSECONDS.toNanos(250);
    private static final int FARTHEST_LOOK = 2_000;
    private static final Duration GIVE_UP = Duration.ofSeconds(15);

    private final Appender appender;
    private final TopicCatalogue topics;
    private final Landing landing;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition gathered = lock.newCondition();
    private final ArrayDeque<Submission> waiting = new ArrayDeque<>();
    private final Set<String> keysInFlight = new HashSet<>();
    private int waitingMessages;
    private int flying;
    /** How many submissions are expected to come together, by the size of the last batches. */
    private int expected = 1;
    /** Everything within sight waits for a key in flight: no use in another flight before one has landed. */
    private boolean held;

    private volatile boolean crowded;

    /** Told of what became of a batch. */
    interface Landing {
        /** A batch was committed, straight into the log or into the outbox. */
        void landed(boolean direct);

        /** A submission is over, well or not. */
        void over(Submission submission);
    }

    Flights(Appender appender, TopicCatalogue topics, Landing landing) {
        this.appender = appender;
        this.topics = topics;
        this.landing = landing;
    }

    /** Takes a submission on. A caller that waits for it flies the batch itself if one can take off: no thread is woken for it. */
    void submit(Submission submission) {
        boolean takeOff;
        lock.lock();
        try {
            waiting.add(submission);
            waitingMessages += submission.size();
            if (waiting.size() >= expected) {
                gathered.signal();
            }
            takeOff = flying == 0 || (flying < MOST_FLYING && waitingMessages >= LARGE && !held);
            if (takeOff) {
                flying++;
            }
        } finally {
            lock.unlock();
        }
        if (takeOff && submission.isAwaited()) {
            flyOnce();
        } else if (takeOff) {
            flyOn();
        }
    }

    private void flyOn() {
        Thread.ofVirtual().name("trunkline-publish").start(this::fly);
    }

    /** One batch in the caller's thread; whatever has gathered meanwhile is not for the caller to wait for. */
    private void flyOnce() {
        List<Submission> batch = board();
        if (batch.isEmpty()) {
            return;
        }
        send(batch);
        land(batch);
        boolean more;
        lock.lock();
        try {
            more = !waiting.isEmpty();
            if (!more) {
                flying--;
            }
        } finally {
            lock.unlock();
        }
        if (more) {
            flyOn();
        }
    }

    private void fly() {
        for (List<Submission> batch = board(); !batch.isEmpty(); batch = board()) {
            send(batch);
            land(batch);
        }
    }

    /** The next batch; empty when this flight has nothing more to do, and is then no longer counted. */
    private List<Submission> board() {
        lock.lock();
        try {
            if (flying == 1) {
                awaitExpected();
            }
            List<Submission> batch = flying == 1 || (waitingMessages >= LARGE && !held) ? choose() : List.of();
            if (batch.isEmpty()) {
                held = flying > 1;
                flying--;
            }
            return batch;
        } finally {
            lock.unlock();
        }
    }

    private void awaitExpected() {
        long left = BOARDING_NANOS;
        try {
            while (waiting.size() < expected && left > 0) {
                left = gathered.awaitNanos(left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private List<Submission> choose() {
        List<Submission> batch = new ArrayList<>();
        Set<String> passedOver = new HashSet<>();
        int messages = 0;
        long bytes = 0;
        int looked = 0;
        for (Iterator<Submission> queue = waiting.iterator(); queue.hasNext() && looked < FARTHEST_LOOK; looked++) {
            Submission next = queue.next();
            if (next.needsAny(keysInFlight) || next.needsAny(passedOver)) {
                next.addKeysTo(passedOver);
                continue;
            }
            if (!batch.isEmpty() && (messages + next.size() > MOST_MESSAGES || bytes + next.weight() > MOST_BYTES)) {
                break;
            }
            queue.remove();
            batch.add(next);
            messages += next.size();
            bytes += next.weight();
        }
        waitingMessages -= messages;
        batch.forEach(submission -> submission.addKeysTo(keysInFlight));
        // Most of those that left together, not all: some caller may have gone for good.
        expected = Math.max(1, batch.size() * 3 / 4);
        return batch;
    }

    private void land(List<Submission> batch) {
        lock.lock();
        try {
            batch.forEach(submission -> submission.removeKeysFrom(keysInFlight));
            held = false;
        } finally {
            lock.unlock();
        }
    }

    private void send(List<Submission> batch) {
        try {
            Appender.Appended appended = append(batch);
            landing.landed(appended.direct());
            int from = 0;
            for (Submission submission : batch) {
                List<Receipt> receipts = appended.receipts().subList(from, from + submission.size());
                from += submission.size();
                landing.over(submission);
                submission.receipts().complete(receipts);
            }
        } catch (RuntimeException e) {
            fail(batch, e);
        }
    }

    /** One bad submission must not fail its neighbours: each is then sent alone. What nobody knows is sent again only if that is safe. */
    private void fail(List<Submission> batch, RuntimeException e) {
        boolean unknown = e instanceof OutcomeUnknownException;
        if (batch.size() > 1 && !(e instanceof DatabaseUnavailableException)) {
            for (Submission submission : batch) {
                if (!unknown || submission.isRepeatable()) {
                    send(List.of(submission));
                } else {
                    fail(submission, e);
                }
            }
        } else {
            batch.forEach(submission -> fail(submission, e));
        }
    }

    private void fail(Submission submission, RuntimeException e) {
        landing.over(submission);
        submission.receipts().completeExceptionally(e);
    }

    private Appender.Appended append(List<Submission> batch) {
        boolean repeatable = batch.stream().allMatch(Submission::isRepeatable);
        boolean wait = crowded || batch.stream().mapToInt(Submission::size).sum() >= LARGE;
        boolean unknown = false;
        long deadline = System.nanoTime() + GIVE_UP.toNanos();
        for (int attempt = 1; ; attempt++) {
            TrunklineException problem;
            try {
                Appender.Appended appended = appender.append(batch, wait);
                crowded = !appended.direct() && !wait;
                return appended;
            } catch (SQLException e) {
                problem = Failure.explain(e);
                switch (Failure.of(e)) {
                    case LOCKED -> wait = false;
                    case PASSING -> {}
                    case UNKNOWN -> unknown = true;
                    case DEFINITE -> {
                        if (unknown || !createdNow(batch, attempt, problem)) {
                            throw unknown ? stillUnknown(problem) : problem;
                        }
                    }
                }
            } catch (DatabaseUnavailableException e) {
                problem = e;
            }
            if ((unknown && !repeatable) || System.nanoTime() > deadline || !pause(attempt)) {
                throw unknown ? stillUnknown(problem) : problem;
            }
        }
    }

    /** What an earlier try may have committed, a later failure does not undo. */
    private static OutcomeUnknownException stillUnknown(TrunklineException problem) {
        return problem instanceof OutcomeUnknownException first
                ? first
                : new OutcomeUnknownException(
                        "an earlier try may have been committed, and then: " + problem.getMessage(), problem);
    }

    private boolean createdNow(List<Submission> batch, int attempt, TrunklineException problem) {
        if (problem instanceof UnknownTopicException unknown && attempt == 1) {
            topics.createUnconfigured(batch.getFirst().messages().getFirst().topic(), unknown);
            return true;
        }
        return false;
    }

    private static boolean pause(int attempt) {
        try {
            long most = Math.min(1_000, 5L << Math.min(attempt, 8));
            Thread.sleep(ThreadLocalRandom.current().nextLong(most / 2, most + 1));
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Fails what has not taken off. */
    void cancel(RuntimeException reason) {
        @Nullable Submission submission;
        do {
            lock.lock();
            try {
                submission = waiting.poll();
                waitingMessages -= submission == null ? 0 : submission.size();
            } finally {
                lock.unlock();
            }
            if (submission != null) {
                fail(submission, reason);
            }
        } while (submission != null);
    }
}
