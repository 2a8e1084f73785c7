package dev.trunkline.faults;

import dev.trunkline.embedded.Shutdown;
import dev.trunkline.rig.FaultProxy.Fate;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;

/** All faults, by their numbers. */
final class Catalogue {

    private static final PublisherMain.Habits LATE = new PublisherMain.Habits(6, 10, 5_000, 5);
    private static final PublisherMain.Habits FICKLE = new PublisherMain.Habits(6, 10, 500, 20);

    private Catalogue() {}

    /** Does something bad once. */
    @FunctionalInterface
    private interface Deed {
        void run(Trial trial) throws Exception;
    }

    private record Simple(String id, String title, PublisherMain.Habits habits, Deed deed) implements Fault {
        @Override
        public void strike(Trial trial) throws Exception {
            deed.run(trial);
        }
    }

    private static Fault fault(String id, String title, Deed deed) {
        return new Simple(id, title, PublisherMain.Habits.USUAL, deed);
    }

    static List<Fault> all() {
        return List.of(
                fault("F1", "SIGKILL a consumer", Catalogue::killConsumer),
                fault("F2", "SIGKILL a publisher", Catalogue::killPublisher),
                fault("F3", "stop PostgreSQL with -m immediate", Catalogue::crashServer),
                fault("F4", "SIGKILL a backend or the postmaster", Catalogue::killServer),
                fault("F6", "terminate and cancel all backends", Catalogue::terminateAll),
                new Simple("F7", "commit up to 5 s after the publish", LATE, trial -> trial.awaitMore(500)),
                new Simple("F8", "roll 20 % back", FICKLE, trial -> trial.awaitMore(500)),
                fault("F9", "cut, delay and lose what is on the line", Catalogue::spoilLine),
                fault("F11", "SIGSTOP a consumer beyond its lease", Catalogue::stopConsumer));
    }

    private static void killConsumer(Trial trial) throws Exception {
        trial.pause(Duration.ofSeconds(2));
        Crowd.Member victim = trial.oneOf(trial.crowd().consumers());
        victim.kill();
        trial.pause(Duration.ofSeconds(2));
        victim.startAgain();
        trial.awaitMore(100);
    }

    private static void killPublisher(Trial trial) throws Exception {
        trial.pause(Duration.ofMillis(500));
        Crowd.Member victim = trial.oneOf(trial.crowd().publishers());
        victim.kill();
        victim.startAgain();
        trial.awaitMore(100);
    }

    private static void crashServer(Trial trial) {
        trial.pause(Duration.ofSeconds(1));
        trial.server().restart(Shutdown.IMMEDIATE);
        trial.awaitMore(100);
    }

    private static void killServer(Trial trial) throws Exception {
        trial.pause(Duration.ofSeconds(1));
        if (trial.random().nextBoolean()) {
            trial.server().kill();
            trial.server().start();
        } else {
            try (Connection connection = trial.connect();
                    Statement statement = connection.createStatement();
                    var row = statement.executeQuery(
                            "select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()"
                                    + " order by random() limit 1")) {
                if (row.next()) {
                    new ProcessBuilder("kill", "-KILL", row.getString(1))
                            .inheritIO()
                            .start()
                            .waitFor();
                }
            } catch (SQLException e) {
                trial.expectLostConnection(e);
            }
        }
        trial.awaitMore(100);
    }

    private static void terminateAll(Trial trial) throws SQLException {
        String how = trial.random().nextBoolean() ? "pg_terminate_backend" : "pg_cancel_backend";
        for (int i = 0; i < 10; i++) {
            try (Connection connection = trial.connect();
                    Statement statement = connection.createStatement()) {
                statement.execute("select " + how + "(pid) from pg_stat_activity where backend_type = 'client backend'"
                        + " and pid <> pg_backend_pid()");
            }
            trial.pause(Duration.ofMillis(200));
        }
        trial.awaitMore(100);
    }

    private static void spoilLine(Trial trial) {
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

    private static void stopConsumer(Trial trial) throws Exception {
        trial.pause(Duration.ofSeconds(1));
        Crowd.Member victim = trial.oneOf(trial.crowd().consumers());
        victim.signal("STOP");
        Thread.sleep(Address.LEASE.plusSeconds(2).plusMillis(trial.random().nextInt(2_000)));
        victim.signal("CONT");
        trial.awaitMore(100);
    }
}
