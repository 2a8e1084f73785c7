package dev.trunkline.database;

import dev.trunkline.Start;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** The parts of a {@link Start} as parameters of statements. */
public final class Places {

    private Places() {}

    public static @Nullable String mode(Start start) {
        Start.Mode mode = start.mode();
        return mode == null ? null : mode.name();
    }

    public static @Nullable String time(Start start) {
        Instant time = start.time();
        return time == null ? null : time.toString();
    }

    public static @Nullable String lookBack(Start start) {
        Duration lookBack = start.lookBack();
        return lookBack == null ? null : lookBack.toString();
    }
}
