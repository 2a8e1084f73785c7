package dev.trunkline.faults;

import dev.trunkline.faults.Fault.Site;
import java.time.Duration;
import java.util.List;

/** What is done to a server that has a standby. */
final class FailoverFaults {

    private FailoverFaults() {}

    static List<Fault> all() {
        return List.of(
                new Fault("F20", "fail over to a synchronous standby", FailoverFaults::failOver)
                        .on(Site.STANDBY)
                        .with("wal_keep_size", "1GB"),
                new Fault("F20a", "fail over to a standby that lacks seconds", FailoverFaults::failOverLate)
                        .on(Site.LATE_STANDBY)
                        .with("wal_keep_size", "1GB"));
    }

    private static void failOver(Trial trial) throws Exception {
        trial.pause(Duration.ofSeconds(2));
        trial.harm(trial.pair()::failOver);
        trial.awaitMore(100);
        trial.pair().renew();
    }

    /** What the standby lacks is lost, and nothing else. Its offsets are given again. */
    private static void failOverLate(Trial trial) throws Exception {
        trial.pause(Duration.ofSeconds(2));
        trial.harm(() -> {
            long began = System.nanoTime();
            trial.pair().cutOff();
            trial.pause(Duration.ofSeconds(3));
            trial.pair().failOver();
            trial.forget(began, System.nanoTime());
        });
        trial.awaitMore(100);
        trial.pair().renew();
    }
}
