package dev.trunkline;

import java.util.Set;

/**
 * How a group that is pulled from is made. They count when it is made for the first time, and stay.
 *
 * @param start where it begins
 * @param attempts how often a message is tried, the first time included, before it becomes a dead letter
 * @param stopKey whether, in an ordered topic, what comes after a dead letter on its key waits until it is redriven or discarded
 * @param keys the only keys that it wants; empty: all. What a later call adds comes from the end of the log on
 */
public record PullOptions(Start start, int attempts, boolean stopKey, Set<String> keys) {

    private static final int MOST_ATTEMPTS = 1_000;

    public PullOptions {
        keys = Set.copyOf(keys);
        if (attempts < 1 || attempts > MOST_ATTEMPTS) {
            throw new IllegalArgumentException(
                    "a message can not be tried " + attempts + " times: use 1 to " + MOST_ATTEMPTS);
        }
    }

    public static PullOptions fromNow() {
        return from(Start.now());
    }

    public static PullOptions fromBeginning() {
        return from(Start.beginning());
    }

    /** Begins at some place, if the group is new. */
    public static PullOptions from(Start start) {
        return new PullOptions(start, 5, true, Set.of());
    }

    public PullOptions withAttempts(int newAttempts) {
        return new PullOptions(start, newAttempts, stopKey, keys);
    }

    public PullOptions withStopKey(boolean newStopKey) {
        return new PullOptions(start, attempts, newStopKey, keys);
    }

    public PullOptions withKeys(Set<String> newKeys) {
        return new PullOptions(start, attempts, stopKey, newKeys);
    }
}
