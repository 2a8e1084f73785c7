package dev.trunkline.database;

import java.time.Duration;

/** How long to wait after a failure: twice as long after each, up to a limit. */
public final class Backoff {

    private static final Duration FIRST = Duration.ofMillis(50);

    private final Duration longest;
    private Duration next = FIRST;

    public Backoff(Duration longest) {
        this.longest = longest;
    }

    /** It has failed again. */
    public Duration next() {
        Duration now = next;
        Duration doubled = now.multipliedBy(2);
        next = doubled.compareTo(longest) > 0 ? longest : doubled;
        return now;
    }

    /** It has succeeded. */
    public void reset() {
        next = FIRST;
    }
}
