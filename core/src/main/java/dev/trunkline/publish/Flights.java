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
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The submissions for one topic and the batch that is under way: one at a time, so that messages keep the order of the calls.
 * A batch is whatever gathered while the last one was in flight: nobody waits for company when nothing is under way. Callers that
 * shared a batch come back at about the same time, so after a batch of several the next take-off waits for most of them, for a
 * fraction of what a flight takes.
 */
final class Flights {

    private static final int MOST_MESSAGES = 1_000;
    private static final int MOST_BYTES = 8 * 1024 * 1024;
    /** From this size on, waiting for the append lock is cheaper than the detour through the outbox. */
    private static final int LARGE = 50;

    private static final int CROWD = 64;

    private static final long BOARDING_NANOS = TimeUnit.MICROSECONDS.toNanos(250);
    private static final Duration GIVE_UP = Duration.ofSeconds(15);

    private final Appender appender;
    private final TopicCatalogue topics;
    private final Executor crew;
    private final Landing landing;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition gathered = lock.newCondition();
    private final ArrayDeque<Submission> waiting = new ArrayDeque<>();
    private boolean flying;
    /** How many submissions are expected to come together, by the size of the last batch. */
    private int expected = 1;

    private volatile boolean crowded;

    /** Told of what became of a batch. */
    interface Landing {
        /** A batch was committed, straight into the log or into the outbox. */
        void landed(boolean direct);

        /** A submission is over, well or not. */
        void over(Submission submission);
    }

    /** @param crew flies the batches that no caller flies */
    Flights(Appender appender, TopicCatalogue topics, Executor crew, Landing landing) {
        this.appender = appender;
        this.topics = topics;
        this.crew = crew;
        this.landing = landing;
    }

    /** Takes a submission on. A caller that waits for it flies the batch itself if none is under way: no thread is woken for it. */
    void submit(Submission submission) {
        boolean takeOff;
        lock.lock();
        try {
            waiting.add(submission);
            if (waiting.size() >= expected) {
                gathered.signal();
            }
            takeOff = !flying;
            flying = true;
        } finally {
            lock.unlock();
        }
        if (takeOff && (!submission.isAwaited() || flyOnce())) {
            crew.execute(this::fly);
        }
    }

    private void fly() {
        boolean more;
        do {
            more = flyOnce();
        } while (more);
    }

    /** Flies one batch. Returns whether the next one is to be flown. */
    private boolean flyOnce() {
        List<Submission> batch = board();
        List<Receipt> receipts;
        try {
            receipts = commit(batch);
        } catch (RuntimeException e) {
            fail(batch, e);
            return land();
        }
        if (isCrowd(batch)) {
            if (land()) {
                crew.execute(this::fly);
            }
            tell(batch, receipts);
            return false;
        }
        tell(batch, receipts);
        return land();
    }

    /** To wake so many takes as long as a flight does: the next one need not wait for that. Nobody sees it who did not wait. */
    private static boolean isCrowd(List<Submission> batch) {
        return batch.size() >= CROWD && batch.stream().allMatch(Submission::isAwaited);
    }

    /** Whether there is more to fly. */
    private boolean land() {
        lock.lock();
        try {
            flying = !waiting.isEmpty();
            return flying;
        } finally {
            lock.unlock();
        }
    }

    private List<Submission> board() {
        lock.lock();
        try {
            awaitExpected();
            List<Submission> batch = new ArrayList<>();
            int messages = 0;
            long bytes = 0;
            for (Submission next = waiting.peek();
                    next != null
                            && (batch.isEmpty()
                                    || (messages + next.size() <= MOST_MESSAGES
                                            && bytes + next.weight() <= MOST_BYTES));
                    next = waiting.peek()) {
                batch.add(waiting.remove());
                messages += next.size();
                bytes += next.weight();
            }
            // Most of those that left together, not all: some caller may have gone for good.
            expected = (batch.size() * 3 + 3) / 4;
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

    private List<Receipt> commit(List<Submission> batch) {
        Appender.Appended appended = append(batch);
        landing.landed(appended.direct());
        return appended.receipts();
    }

    private void tell(List<Submission> batch, List<Receipt> receipts) {
        int from = 0;
        for (Submission submission : batch) {
            List<Receipt> mine = receipts.subList(from, from + submission.size());
            from += submission.size();
            landing.over(submission);
            submission.receipts().complete(mine);
        }
    }

    /** One bad submission must not fail its neighbours: each is then sent alone. What nobody knows is sent again only if that is safe. */
    private void fail(List<Submission> batch, RuntimeException e) {
        boolean unknown = e instanceof OutcomeUnknownException;
        if (batch.size() > 1 && !(e instanceof DatabaseUnavailableException)) {
            for (Submission submission : batch) {
                if (!unknown || submission.isRepeatable()) {
                    sendAlone(submission);
                } else {
                    fail(submission, e);
                }
            }
        } else {
            batch.forEach(submission -> fail(submission, e));
        }
    }

    private void sendAlone(Submission submission) {
        List<Submission> alone = List.of(submission);
        try {
            tell(alone, commit(alone));
        } catch (RuntimeException e) {
            fail(submission, e);
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
            } catch (Error e) {
                // Such as too little memory: who waits is told, and others fly.
                throw new OutcomeUnknownException("a batch could not be published: " + e, e);
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
            } finally {
                lock.unlock();
            }
            if (submission != null) {
                fail(submission, reason);
            }
        } while (submission != null);
    }
}
