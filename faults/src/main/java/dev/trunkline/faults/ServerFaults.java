package dev.trunkline.faults;

import dev.trunkline.embedded.Shutdown;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** What is done to the server, and what others do on it. */
final class ServerFaults {

    private static final String OTHERS =
            " from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()";

    private static final String POSTMASTER = "postmaster";
    private static final List<String> VICTIMS = List.of(POSTMASTER, "backend");
    private static final List<String> STORMS = List.of("pg_terminate_backend", "pg_cancel_backend");

    /** How long the pace is measured before and while a transaction is held. */
    private static final Duration WINDOW = Duration.ofSeconds(4);

    private ServerFaults() {}

    static List<Fault> all() {
        return List.of(
                new Fault("F3", "stop PostgreSQL with -m immediate", ServerFaults::crash),
                new Fault("F4", "SIGKILL a backend or the postmaster", ServerFaults::kill),
                new Fault("F6", "terminate and cancel all backends", ServerFaults::terminateAll),
                new Fault("F13", "hold a transaction open, and a slot", ServerFaults::holdTransaction)
                        .with("wal_level", "logical")
                        .sparingPublishers(),
                new Fault("F15", "take all connections that the server has", ServerFaults::takeConnections)
                        .with("max_connections", "60"),
                new Fault("F17", "fill the NOTIFY queue", ServerFaults::fillQueue)
                        .with("max_notify_queue_pages", "64")
                        .sparingPublishers());
    }

    private static void crash(Trial trial) throws Exception {
        trial.pause(Duration.ofSeconds(1));
        trial.harm(() -> trial.server().restart(Shutdown.IMMEDIATE));
        trial.awaitMore(100);
    }

    private static void kill(Trial trial) throws Exception {
        trial.pause(Duration.ofSeconds(1));
        trial.harm(() -> {
            if (trial.draw(VICTIMS).equals(POSTMASTER)) {
                trial.server().kill();
                trial.server().start();
            } else {
                Shell.run("kill", "-KILL", "" + trial.oneOf(backends(trial)));
            }
        });
        trial.awaitMore(100);
    }

    private static List<Integer> backends(Trial trial) throws SQLException {
        try (Connection connection = trial.connect();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("select pid" + OTHERS + " order by backend_start")) {
            List<Integer> pids = new ArrayList<>();
            while (row.next()) {
                pids.add(row.getInt(1));
            }
            return pids;
        }
    }

    private static void terminateAll(Trial trial) throws Exception {
        String how = trial.draw(STORMS);
        for (int i = 0; i < 10; i++) {
            trial.harm(() -> hit(trial, how));
            trial.pause(Duration.ofMillis(200));
        }
        trial.awaitMore(100);
    }

    private static void hit(Trial trial, String how) throws SQLException {
        try (Connection connection = trial.connect();
                Statement statement = connection.createStatement()) {
            statement.execute("select " + how + "(pid)" + OTHERS);
        }
    }

    /** What the transaction sees, and the catalogue as of when the slot was made, can not be vacuumed meanwhile. */
    private static void holdTransaction(Trial trial) throws Exception {
        double before = trial.standing().pace(WINDOW);
        try (Connection connection = trial.connect();
                Statement statement = connection.createStatement()) {
            statement.execute("select pg_create_logical_replication_slot('unused', 'pgoutput')");
            connection.setAutoCommit(false);
            connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            statement.execute("insert into business values ('held')");
            trial.compare(before, trial.standing().pace(WINDOW));
            connection.rollback();
            connection.setAutoCommit(true);
            statement.execute("select pg_drop_replication_slot('unused')");
        }
    }

    /** Those that others have are closed first, so that they have to look for new ones. */
    private static void takeConnections(Trial trial) throws Exception {
        List<Connection> taken = new ArrayList<>();
        try {
            trial.harm(() -> {
                hit(trial, "pg_terminate_backend");
                takeAll(trial, taken);
                trial.pause(Duration.ofSeconds(3));
            });
        } finally {
            for (Connection connection : taken) {
                connection.close();
            }
        }
        trial.awaitMore(100);
    }

    private static void takeAll(Trial trial, List<Connection> taken) throws SQLException {
        try {
            while (taken.size() < 200) {
                taken.add(trial.connect());
            }
            throw new IllegalStateException("the server has more connections than it should");
        } catch (SQLException e) {
            if (!"53300".equals(e.getSQLState())) {
                throw e;
            }
        }
    }

    /** A listener that is in a transaction keeps everything that anybody says. */
    private static void fillQueue(Trial trial) throws SQLException {
        try (Connection listener = trial.connect();
                Connection talker = trial.connect();
                Statement listening = listener.createStatement();
                Statement talking = talker.createStatement()) {
            listening.execute("listen something");
            listener.setAutoCommit(false);
            listening.execute("select 1");
            boolean full = false;
            for (int i = 0; i < 10_000 && !full; i++) {
                try {
                    talking.execute("select pg_notify('something', repeat('x', 7000) || " + i + ")");
                } catch (SQLException e) {
                    if (!String.valueOf(e.getMessage()).contains("too many notifications")) {
                        throw e;
                    }
                    full = true;
                }
            }
            if (!full) {
                throw new IllegalStateException("the queue did not fill");
            }
            trial.awaitMore(500);
            listener.rollback();
        }
        trial.awaitMore(100);
    }
}
