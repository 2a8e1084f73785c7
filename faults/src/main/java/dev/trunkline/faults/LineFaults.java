package dev.trunkline.faults;

import dev.trunkline.faults.Fault.Deed;
import dev.trunkline.faults.Fault.Site;
import dev.trunkline.rig.FaultProxy;
import dev.trunkline.rig.FaultProxy.Fate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** What is done to the line between the processes and the server. */
final class LineFaults {

    private static final List<Deed> DEEDS = deeds();

    private LineFaults() {}

    static List<Fault> all() {
        return List.of(
                new Fault("F9", "cut, delay and lose what is on the line", LineFaults::spoil),
                new Fault("F10", "cut a consumer off beyond its lease", LineFaults::cutOff)
                        .on(Site.ISLAND)
                        .sparingPublishers());
    }

    private static void spoil(Trial trial) throws Exception {
        trial.harm(() -> {
            trial.draw(DEEDS).strike(trial);
            trial.line().restore();
        });
        trial.awaitMore(100);
    }

    private static void cut(Trial trial) {
        trial.line().cutNow();
    }

    private static void delay(Trial trial) {
        Duration longest = Duration.ofMillis(1 + trial.random().nextInt(30));
        trial.line().delay(longest.dividedBy(2), longest.dividedBy(2));
        trial.pause(Duration.ofSeconds(3));
    }

    private static void refuse(Trial trial) {
        trial.line().refuse(true);
        trial.line().cutNow();
        trial.pause(Duration.ofSeconds(2));
    }

    private static Deed trap(Consumer<FaultProxy> trap) {
        return trial -> {
            int before = trial.line().trapped();
            trap.accept(trial.line());
            Standing.await("somebody is caught", () -> trial.line().trapped() > before);
            trial.pause(Duration.ofSeconds(1));
        };
    }

    /** Some that publish, by the name of the topic, some that will do so again with the same idempotency keys, and some that commit, are caught in each way that there is. */
    private static List<Deed> deeds() {
        List<Deed> deeds = new ArrayList<>(List.of(LineFaults::cut, LineFaults::delay, LineFaults::refuse));
        for (Fate fate : Fate.values()) {
            deeds.add(trap(line -> line.trapCommit(fate)));
            deeds.add(trap(line -> line.trap(Workload.ORDERS, fate)));
            deeds.add(trap(line -> line.trap(Unanswered.KEY, fate)));
        }
        return List.copyOf(deeds);
    }

    private static void cutOff(Trial trial) throws Exception {
        trial.pause(Duration.ofSeconds(1));
        trial.awaitOwning(trial.crowd().islander().pid());
        trial.harm(() -> {
            trial.island().cutOff();
            try {
                trial.awaitTakenOverWhileItLives(trial.crowd().islander().pid());
                trial.pause(Duration.ofSeconds(4));
            } finally {
                trial.island().connect();
            }
        });
        trial.awaitMore(100);
    }
}
