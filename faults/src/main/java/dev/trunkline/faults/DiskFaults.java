package dev.trunkline.faults;

import dev.trunkline.DatabaseUnavailableException;
import dev.trunkline.Message;
import dev.trunkline.OutcomeUnknownException;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.faults.Fault.Site;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** What is done to the disk of the server. */
final class DiskFaults {

    private static final String BALLAST = "ballast";
    private static final int LARGE = 900_000;
    private static final int MANY = 2_000;

    private DiskFaults() {}

    static List<Fault> all() {
        return List.of(
                new Fault("F5", "cut the power of the disk", DiskFaults::cutPower).on(Site.DISK),
                new Fault("F5c", "the same, synchronous_commit=off: must lose", DiskFaults::cutPower)
                        .on(Site.DISK)
                        .with("synchronous_commit", "off")
                        .with("wal_writer_delay", "10s")
                        .mustLose(),
                new Fault("F25", "fill the disk of the data, then that of WAL", DiskFaults::fill)
                        .on(Site.DISKS)
                        .with("max_wal_size", "64MB")
                        .with("min_wal_size", "32MB"));
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
        try (Trunkline trunkline = trial.open()) {
            trunkline.topics().create(TopicConfiguration.pubSub(BALLAST).withPartitions(1));
        }
        fill(trial, trial.disk(), true);
        fill(trial, trial.walDisk(), false);
        try (Trunkline trunkline = trial.open()) {
            trunkline.topics().drop(BALLAST);
        }
        trial.awaitMore(100);
    }

    /** @param serves whether the server goes on and says what is wrong: it ends when it can not write its log */
    private static void fill(Trial trial, Disk disk, boolean serves) throws Exception {
        trial.harm(() -> {
            disk.fill();
            Standing.await("the disk is full", () -> isFull(trial));
            requireClearRefusal(trial, serves);
            trial.pause(Duration.ofSeconds(2));
            disk.empty();
            if (!trial.standing().isAnswering()) {
                trial.server().kill();
                trial.server().start();
            }
        });
        trial.standing().execute("drop table if exists ballast");
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
            return isForLackOfSpace(e);
        }
    }

    /** It says so, or the server has given up: then connections are refused or end. */
    private static boolean isForLackOfSpace(SQLException e) {
        String state = String.valueOf(e.getSQLState());
        return state.equals("53100") || state.equals("58P01") || state.startsWith("08") || state.startsWith("57P");
    }

    /** Who publishes now is told that it failed, why, and that it may be tried again; or, if the server has ended, that nobody knows. */
    private static void requireClearRefusal(Trial trial, boolean serves) {
        try (Trunkline trunkline = trial.open()) {
            for (int i = 0; i < MANY; i++) {
                trunkline.publisher().publish(Message.of(BALLAST, new byte[LARGE]));
            }
        } catch (DatabaseUnavailableException | OutcomeUnknownException e) {
            if (serves && !String.valueOf(e.getMessage()).contains("No space left on device")) {
                throw new IllegalStateException("it is not said that the disk is full", e);
            }
            return;
        }
        throw new IllegalStateException("a disk that is full has taken " + MANY + " large messages");
    }
}
