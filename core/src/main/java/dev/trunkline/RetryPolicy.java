package dev.trunkline;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * How a failed message is tried again: after delays that grow by a factor, each shortened at random by up to half, so that what
 * failed together does not come back together. After the last attempt the message goes to the dead letters.
 *
 * @param attempts how often a message is tried, the first time included
 * @param first the delay after the first failure
 * @param longest no delay is longer
 * @param exhausted what becomes of the key after the last attempt
 */
public record RetryPolicy(int attempts, Duration first, Duration longest, Exhausted exhausted) {

    private static final int FACTOR = 2;
    private static final int MOST_DOUBLINGS = 40;
    /** What fits into nanoseconds. */
    static final Duration LONGEST = Duration.ofDays(36_500);

    /** What becomes of the messages behind a dead letter. Where order is not kept, and without a key, they always go on. */
    public enum Exhausted {
        /** Those of its key wait until it is redriven or discarded; then they follow, in order. */
        PARK_KEY,
        /** They go on without it. */
        SKIP
    }

    /** Five attempts, after 1, 2, 4 and 8 seconds, never more than a minute apart; then the key is parked. */
    public static RetryPolicy standard() {
        return new RetryPolicy(5, Duration.ofSeconds(1), Duration.ofMinutes(1));
    }

    /** A policy that parks the key after the last attempt. */
    public RetryPolicy(int attempts, Duration first, Duration longest) {
        this(attempts, first, longest, Exhausted.PARK_KEY);
    }

    /** The same, but keys go on after a dead letter. */
    public RetryPolicy skipping() {
        return new RetryPolicy(attempts, first, longest, Exhausted.SKIP);
    }

    public RetryPolicy {
        if (attempts < 1) {
            throw new IllegalArgumentException("a message is tried at least once, not " + attempts + " times");
        }
        if (longest.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException("a delay of " + longest + " is too long: use " + LONGEST + " or less");
        }
        if (first.isNegative() || longest.compareTo(first) < 0) {
            throw new IllegalArgumentException("delays from " + first + " to " + longest
                    + " make no sense: use a first one of zero or more, and a longest one that is not shorter");
        }
    }

    /** The delay after that many failures. */
    public Duration delay(int failures) {
        double factor = Math.pow(FACTOR, Math.min(failures - 1, MOST_DOUBLINGS));
        double nanos = Math.min(first.toNanos() * factor, (double) longest.toNanos());
        return Duration.ofNanos((long) (nanos * ThreadLocalRandom.current().nextDouble(0.5, 1.0)));
    }
}
