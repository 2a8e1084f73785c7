package dev.trunkline.checker;

import java.time.Duration;

/**
 * What the system under test promises about time.
 *
 * @param recovery how long after a fault its consequences may show
 * @param unrecorded how long something may have been done without being recorded
 * @param drain how long it may take to handle what is left after everything has calmed down
 */
public record Limits(Duration recovery, Duration unrecorded, Duration drain) {

    public static Limits standard() {
        return new Limits(Duration.ofSeconds(30), Duration.ofSeconds(2), Duration.ofSeconds(60));
    }
}
