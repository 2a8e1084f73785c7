package dev.trunkline.embedded;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waiting for what only another process can bring about. */
final class Pause {
    private static final Duration STEP = Duration.ofMillis(20);

    private Pause() {}

    /** Whether the condition came true within the limit. */
    static boolean until(BooleanSupplier condition, Duration limit) {
        long deadline = System.nanoTime() + limit.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                return false;
            }
            briefly();
        }
        return true;
    }

    static void briefly() {
        LockSupport.parkNanos(STEP.toNanos());
        if (Thread.currentThread().isInterrupted()) {
            throw new EmbeddedPostgresException("interrupted while waiting for PostgreSQL");
        }
    }
}
