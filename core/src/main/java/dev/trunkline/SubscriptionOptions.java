package dev.trunkline;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;

/**
 * How a group is started. Where it begins is decided when the group is started for the first time, and stays: later starts go on
 * where the group is.
 *
 * @param start where a new group begins
 * @param concurrency the most handlers of this process that run at once for the group
 * @param window the most messages of one partition that are read ahead of the first that is not done; if more than 2,000, it should be the
 *     same in all processes of the group: after one has died, what it may have died of is looked for within the window
 * @param retry what happens to failed messages
 * @param handlerTimeout after which a handler is interrupted, and its message has failed; one that has not returned after as long
 *     again is given up: its message goes to the dead letters, and its key waits until it does
 * @param batching how many messages a transaction takes, if all consumers of the group are transactional
 * @param partitions the only partitions that this process takes; empty: its share of all. Either all processes of a group name theirs,
 *     or none does
 * @param deadAfter a group of a pub/sub topic that no process serves for so long is dead: it no longer holds messages back. The last start
 *     of the group decides
 * @param keys the only keys that the group wants; empty: all. What a start adds to those that the group wants already comes from the end of the
 *     log on, and processes that own its partition start over; a group that has all can not be made to want some
 * @param backfill how a group works off what lies in the log when it begins, or comes back from the dead; empty: all of it, as fast as it can
 */
public record SubscriptionOptions(
        Start start,
        int concurrency,
        int window,
        RetryPolicy retry,
        Duration handlerTimeout,
        Batching batching,
        Set<Integer> partitions,
        Duration deadAfter,
        Set<String> keys,
        Optional<BackfillConfiguration> backfill) {

    public SubscriptionOptions {
        if (concurrency < 1) {
            throw new IllegalArgumentException("a concurrency of " + concurrency + " handles nothing: use 1 or more");
        }
        if (window < 1 || window > 100_000) {
            throw new IllegalArgumentException("a window of " + window + " messages is not within 1 to 100000");
        }
        partitions = Set.copyOf(partitions);
        keys = Set.copyOf(keys);
        if (deadAfter.isNegative() || deadAfter.isZero()) {
            throw new IllegalArgumentException("a group is not dead after " + deadAfter + ": use more than zero");
        }
        if (handlerTimeout.isNegative() || handlerTimeout.isZero()) {
            throw new IllegalArgumentException("a handler timeout of " + handlerTimeout + " is too short");
        }
        if (handlerTimeout.compareTo(RetryPolicy.LONGEST) > 0) {
            throw new IllegalArgumentException(
                    "a handler timeout of " + handlerTimeout + " is too long: use " + RetryPolicy.LONGEST + " or less");
        }
    }

    public static SubscriptionOptions fromNow() {
        return from(Start.now());
    }

    public static SubscriptionOptions fromBeginning() {
        return from(Start.beginning());
    }

    /** Begins at the beginning, or as far from it as the bound on history says, and works history off at that pace. */
    public static SubscriptionOptions fromBeginning(BackfillConfiguration backfill) {
        return fromBeginning().withBackfill(backfill);
    }

    /** Begins with what was appended at that time or later. */
    public static SubscriptionOptions fromTimestamp(Instant time) {
        return from(Start.at(time));
    }

    /** Begins with a message, by the id that its receipt has. */
    public static SubscriptionOptions fromMessageId(long id) {
        return from(Start.message(id));
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
                Duration.ofMinutes(5),
                Set.of(),
                Optional.empty());
    }

    public SubscriptionOptions withConcurrency(int newConcurrency) {
        return new SubscriptionOptions(
                start, newConcurrency, window, retry, handlerTimeout, batching, partitions, deadAfter, keys, backfill);
    }

    public SubscriptionOptions withWindow(int newWindow) {
        return new SubscriptionOptions(
                start, concurrency, newWindow, retry, handlerTimeout, batching, partitions, deadAfter, keys, backfill);
    }

    public SubscriptionOptions withRetry(RetryPolicy newRetry) {
        return new SubscriptionOptions(
                start, concurrency, window, newRetry, handlerTimeout, batching, partitions, deadAfter, keys, backfill);
    }

    public SubscriptionOptions withHandlerTimeout(Duration newHandlerTimeout) {
        return new SubscriptionOptions(
                start, concurrency, window, retry, newHandlerTimeout, batching, partitions, deadAfter, keys, backfill);
    }

    public SubscriptionOptions withBatching(Batching newBatching) {
        return new SubscriptionOptions(
                start, concurrency, window, retry, handlerTimeout, newBatching, partitions, deadAfter, keys, backfill);
    }

    public SubscriptionOptions withPartitions(Set<Integer> newPartitions) {
        return new SubscriptionOptions(
                start, concurrency, window, retry, handlerTimeout, batching, newPartitions, deadAfter, keys, backfill);
    }

    public SubscriptionOptions withDeadAfter(Duration newDeadAfter) {
        return new SubscriptionOptions(
                start, concurrency, window, retry, handlerTimeout, batching, partitions, newDeadAfter, keys, backfill);
    }

    public SubscriptionOptions withKeys(Set<String> newKeys) {
        return new SubscriptionOptions(
                start, concurrency, window, retry, handlerTimeout, batching, partitions, deadAfter, newKeys, backfill);
    }

    public SubscriptionOptions withBackfill(BackfillConfiguration newBackfill) {
        return new SubscriptionOptions(
                start,
                concurrency,
                window,
                retry,
                handlerTimeout,
                batching,
                partitions,
                deadAfter,
                keys,
                Optional.of(newBackfill));
    }
}
