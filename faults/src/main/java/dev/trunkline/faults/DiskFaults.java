package dev.trunkline.faults;

import java.io.IOException;
import java.time.Duration;
import java.util.List;

/** What is done to the disk of the server. */
final class DiskFaults {

    private DiskFaults() {}

    static List<Fault> all() {
        return List.of(
                new Fault("F5", "cut the power of the disk", DiskFaults::cutPower).onDisk(),
                new Fault("F5c", "the same, synchronous_commit=off: must lose", DiskFaults::cutPower)
                        .onDisk()
                        .with("synchronous_commit", "off")
                        .with("wal_writer_delay", "10s")
                        .mustLose(),
                new Fault("F25", "fill the disk", DiskFaults::fill).onDisk());
    }

    private static void cutPower(Trial trial) throws IOException, InterruptedException {
        trial.pause(Duration.ofSeconds(2));
        trial.disk().cutPower();
        trial.server().kill();
        trial.disk().restorePower();
        trial.server().start();
        trial.awaitMore(100);
    }

    /** The server may end when it can not write its log; whoever runs it makes room and starts it. */
    private static void fill(Trial trial) throws IOException {
        trial.pause(Duration.ofSeconds(1));
        trial.disk().fill();
        trial.pause(Duration.ofSeconds(3));
        trial.disk().empty();
        if (!trial.isAnswering()) {
            trial.server().kill();
            trial.server().start();
        }
        trial.awaitMore(100);
    }
}
