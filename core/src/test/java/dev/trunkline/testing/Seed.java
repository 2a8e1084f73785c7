package dev.trunkline.testing;

import java.security.SecureRandom;

/** Where a test's randomness comes from: a new number each time, or {@code -Dseed=...} to see a failure again. */
public final class Seed {

    private Seed() {}

    public static long next() {
        return Long.getLong("seed", new SecureRandom().nextInt(1_000_000));
    }
}
