package dev.trunkline.faults;

import dev.trunkline.rig.FaultProxy.Fate;
import java.time.Duration;
import java.util.List;

/** What is done to the line between the processes and the server. */
final class LineFaults {

    private LineFaults() {}

    static List<Fault> all() {
        return List.of(new Fault("F9", "cut, delay and lose what is on the line", LineFaults::spoil));
    }

    private static void spoil(Trial trial) {
        switch (trial.random().nextInt(4)) {
            case 0 -> trial.line().cutNow();
            case 1 -> {
                trial.line().delay(Duration.ofMillis(1 + trial.random().nextInt(30)));
                trial.pause(Duration.ofSeconds(3));
                trial.line().delay(Duration.ZERO);
            }
            case 2 -> {
                trial.line().refuse(true);
                trial.line().cutNow();
                trial.pause(Duration.ofSeconds(2));
                trial.line().refuse(false);
            }
            default -> {
                Fate[] fates = Fate.values();
                trial.line().trap("COMMIT", fates[trial.random().nextInt(fates.length)]);
                trial.pause(Duration.ofSeconds(1));
            }
        }
        trial.awaitMore(100);
    }
}
