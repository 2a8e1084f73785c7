package dev.trunkline;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * How a failed message is tried again: after delays that grow by a factor, each shortened at random by up to half, so that what
 * failed together does not come back together. After the last attempt the message goes to the dead letters and its key goes on.
 *
 * @param attempts how often a message is tried, the first time included
 * @param first the delay after the first failure
 * @param longest no delay is longer
 */
public record RetryPolicy(int attempts, Duration first, Duration longest) {

    private static final int FACTOR = 2;
    private static final int MOST_DOUBLINGS = 40;

    /** Five attempts, after 1, 2, 4 and 8 seconds, never more than a minute apart. */
    public static RetryPolicy standard() {
        return new RetryPolicy(5, Duration.ofSeconds(1), Duration.ofMinutes(1));
    }

    public RetryPolicy {
        if (attempts < 1) {
            throw new IllegalArgumentException("a message is tried at least once, not " + attempts + " times");
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
