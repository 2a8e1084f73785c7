package dev.trunkline.faults;

import dev.trunkline.faults.Fault.Site;
import dev.trunkline.rig.FaultProxy.Fate;
import java.time.Duration;
import java.util.List;

/** What is done to the line between the processes and the server. */
final class LineFaults {

    private LineFaults() {}

    static List<Fault> all() {
        return List.of(
                new Fault("F9", "cut, delay and lose what is on the line", LineFaults::spoil),
                new Fault("F10", "cut a consumer off beyond its lease", LineFaults::cutOff).on(Site.ISLAND));
    }

    private static void spoil(Trial trial) throws Exception {
        trial.harm(() -> {
            switch (trial.random().nextInt(4)) {
                case 0 -> trial.line().cutNow();
                case 1 -> {
                    trial.line().delay(Duration.ofMillis(1 + trial.random().nextInt(30)));
                    trial.pause(Duration.ofSeconds(3));
                }
                case 2 -> {
                    trial.line().refuse(true);
                    trial.line().cutNow();
                    trial.pause(Duration.ofSeconds(2));
                }
                default -> catchOne(trial);
            }
            trial.line().restore();
        });
        trial.awaitMore(100);
    }

    /** The first that commits, or that publishes: the name of the topic is in what it sends. */
    private static void catchOne(Trial trial) {
        int before = trial.line().trapped();
        trial.line()
                .trap(trial.random().nextBoolean() ? "COMMIT" : Workload.ORDERS, trial.oneOf(List.of(Fate.values())));
        Trial.await("somebody is caught", () -> trial.line().trapped() > before);
        trial.pause(Duration.ofSeconds(1));
    }

    private static void cutOff(Trial trial) throws Exception {
        trial.pause(Duration.ofSeconds(1));
        trial.harm(() -> {
            trial.island().cutOff();
            Thread.sleep(Address.LEASE.plusSeconds(4).plusMillis(trial.random().nextInt(2_000)));
            trial.island().connect();
        });
        trial.awaitMore(100);
    }
}
