package dev.trunkline;

import java.time.Duration;
import java.util.Set;

/**
 * How a group is started. Where it begins is decided when the group is started for the first time, and stays: later starts go on
 * where the group is.
 *
 * @param start where a new group begins
 * @param concurrency the most handlers of this process that run at once for the group
 * @param window the most messages of one partition that are read ahead of the first that is not done
 * @param retry what happens to failed messages
 * @param handlerTimeout after which a handler is interrupted, and its message has failed; one that has not returned after as long
 *     again is given up: its message goes to the dead letters, and its key waits until it does
 * @param batching how many messages a transaction takes, if all consumers of the group are transactional
 * @param partitions the only partitions that this process takes; empty: its share of all. Either all processes of a group name theirs,
 *     or none does
 * @param deadAfter a group of a pub/sub topic that no process serves for so long is dead: it no longer holds messages back. The last start
 *     of the group decides
 */
public record SubscriptionOptions(
        Start start,
        int concurrency,
        int window,
        RetryPolicy retry,
        Duration handlerTimeout,
        Batching batching,
        Set<Integer> partitions,
        Duration deadAfter) {

    public SubscriptionOptions {
        if (concurrency < 1) {
            throw new IllegalArgumentException("a concurrency of " + concurrency + " handles nothing: use 1 or more");
        }
        if (window < 1 || window > 100_000) {
            throw new IllegalArgumentException("a window of " + window + " messages is not within 1 to 100000");
        }
        partitions = Set.copyOf(partitions);
        if (deadAfter.isNegative() || deadAfter.isZero()) {
            throw new IllegalArgumentException("a group is not dead after " + deadAfter + ": use more than zero");
        }
        if (handlerTimeout.isNegative() || handlerTimeout.isZero()) {
            throw new IllegalArgumentException("a handler timeout of " + handlerTimeout + " is too short");
        }
    }

    public static SubscriptionOptions fromNow() {
        return from(Start.now());
    }

    public static SubscriptionOptions fromBeginning() {
        return from(Start.beginning());
    }

    /** Begins at some place, if the group is new. */
    public static SubscriptionOptions from(Start start) {
        return new SubscriptionOptions(
                start,
                64,
                2_000,
                RetryPolicy.standard(),
                Duration.ofMinutes(1),
                Batching.single(),
                Set.of(),
                Duration.ofMinutes(5));
    }

    public SubscriptionOptions withConcurrency(int newConcurrency) {
        return new SubscriptionOptions(
                start, newConcurrency, window, retry, handlerTimeout, batching, partitions, deadAfter);
    }

    public SubscriptionOptions withWindow(int newWindow) {
        return new SubscriptionOptions(
                start, concurrency, newWindow, retry, handlerTimeout, batching, partitions, deadAfter);
    }

    public SubscriptionOptions withRetry(RetryPolicy newRetry) {
        return new SubscriptionOptions(
                start, concurrency, window, newRetry, handlerTimeout, batching, partitions, deadAfter);
    }

    public SubscriptionOptions withHandlerTimeout(Duration newHandlerTimeout) {
        return new SubscriptionOptions(
                start, concurrency, window, retry, newHandlerTimeout, batching, partitions, deadAfter);
    }

    public SubscriptionOptions withBatching(Batching newBatching) {
        return new SubscriptionOptions(
                start, concurrency, window, retry, handlerTimeout, newBatching, partitions, deadAfter);
    }

    public SubscriptionOptions withPartitions(Set<Integer> newPartitions) {
        return new SubscriptionOptions(
                start, concurrency, window, retry, handlerTimeout, batching, newPartitions, deadAfter);
    }

    public SubscriptionOptions withDeadAfter(Duration newDeadAfter) {
        return new SubscriptionOptions(
                start, concurrency, window, retry, handlerTimeout, batching, partitions, newDeadAfter);
    }
}
