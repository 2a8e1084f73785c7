package dev.trunkline.faults;

import dev.trunkline.faults.Fault.Site;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** What is done to the disk of the server. */
final class DiskFaults {

    private DiskFaults() {}

    static List<Fault> all() {
        return List.of(
                new Fault("F5", "cut the power of the disk", DiskFaults::cutPower).on(Site.DISK),
                new Fault("F5c", "the same, synchronous_commit=off: must lose", DiskFaults::cutPower)
                        .on(Site.DISK)
                        .with("synchronous_commit", "off")
                        .with("wal_writer_delay", "10s")
                        .mustLose(),
                new Fault("F25", "fill the disk", DiskFaults::fill).on(Site.DISK));
    }

    private static void cutPower(Trial trial) throws Exception {
        trial.pause(Duration.ofSeconds(2));
        trial.harm(() -> {
            ProcessHandle postmaster = ProcessHandle.of(trial.server().pid()).orElseThrow();
            List<ProcessHandle> all = Stream.concat(Stream.of(postmaster), postmaster.descendants())
                    .toList();
            trial.disk().cutPower();
            all.forEach(ProcessHandle::destroyForcibly);
            for (ProcessHandle each : all) {
                each.onExit().get();
            }
            trial.disk().restorePower();
            trial.server().start();
        });
        trial.awaitMore(100);
    }

    /** The server may end when it can not write its log; whoever runs it makes room and starts it. */
    private static void fill(Trial trial) throws Exception {
        trial.pause(Duration.ofSeconds(1));
        trial.harm(() -> {
            trial.disk().fill();
            Trial.await("the disk is full", () -> isFull(trial));
            trial.pause(Duration.ofSeconds(2));
            trial.disk().empty();
            if (!trial.isAnswering()) {
                trial.server().kill();
                trial.server().start();
            }
        });
        trial.awaitMore(100);
    }

    /** Whether a large row is refused, or nobody answers any more. */
    private static boolean isFull(Trial trial) {
        try (Connection connection = trial.connect();
                Statement statement = connection.createStatement()) {
            statement.execute("create table if not exists ballast (content text)");
            statement.execute(
                    "insert into ballast select string_agg(md5(i::text), '') from generate_series(1, 30000) i");
            return false;
        } catch (SQLException e) {
            return true;
        }
    }
}
