package dev.trunkline.benchmarks.database;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;

/** What the database has done so far, as it says itself, and the processor time that its processes took, if they run here. */
public final class Meter implements AutoCloseable {

    private static final long PATIENCE = TimeUnit.MINUTES.toNanos(1);
    private static final double TICKS_PER_SECOND = 100;
    private static final int TRIES = 100;
    private static final Sql SQL = Sql.beside(Meter.class, "meter.sql");

    private final Connection connection;
    private final List<String> strangers;
    private final long postmaster;

    public Meter(Address address) throws SQLException {
        this.connection = address.connect();
        this.strangers = Query.texts(connection, SQL.get("clients"));
        this.postmaster = postmaster(Query.number(connection, SQL.get("backend")));
    }

    /**
     * A reading.
     *
     * @param rows inserted, updated and deleted, in all tables
     * @param dead rows that an update or a delete has left behind
     * @param cpuSeconds of all its processes; 0 if they run elsewhere
     */
    public record Usage(double walBytes, double rows, double dead, double cpuSeconds) {

        public Usage since(Usage before) {
            return new Usage(
                    walBytes - before.walBytes, rows - before.rows, dead - before.dead, cpuSeconds - before.cpuSeconds);
        }

        public Usage plus(Usage other) {
            return new Usage(
                    walBytes + other.walBytes, rows + other.rows, dead + other.dead, cpuSeconds + other.cpuSeconds);
        }
    }

    /** Reads it once all who came after this meter have left: a connection may tell of its writes only then. */
    public Usage read() throws SQLException, IOException, InterruptedException {
        awaitClosed();
        try (PreparedStatement statement = connection.prepareStatement(SQL.get("usage"));
                ResultSet row = statement.executeQuery()) {
            row.next();
            return new Usage(row.getDouble(1), row.getDouble(2), row.getDouble(3), cpuSeconds());
        }
    }

    private void awaitClosed() throws SQLException, InterruptedException {
        long began = System.nanoTime();
        while (!strangers.containsAll(Query.texts(connection, SQL.get("clients")))) {
            if (System.nanoTime() - began > PATIENCE) {
                throw new IllegalStateException("somebody is still connected a minute after all was closed");
            }
            Thread.sleep(2);
        }
    }

    private double cpuSeconds() throws IOException {
        for (int tries = 1; ; tries++) {
            try {
                return postmaster == 0 ? 0 : ticks() / TICKS_PER_SECOND;
            } catch (IOException e) {
                if (tries == TRIES) {
                    throw e;
                } // one of its processes has just ended: its time is the parent's now
            }
        }
    }

    private double ticks() throws IOException {
        double ticks = stat(postmaster, Stat::own) + stat(postmaster, Stat::ofTheDead);
        for (ProcessHandle child : ProcessHandle.of(postmaster).stream()
                .flatMap(ProcessHandle::children)
                .toList()) {
            ticks += stat(child.pid(), Stat::own);
        }
        return ticks;
    }

    /** The parent of a server process, if that runs on this machine and this is Linux; otherwise 0. */
    private static long postmaster(long backend) {
        return ProcessHandle.of(backend)
                .filter(process -> Files.exists(Path.of("/proc", Long.toString(process.pid()), "stat")))
                .filter(process ->
                        process.info().command().orElse("").endsWith("postgres") || isPostgres(process.pid()))
                .flatMap(ProcessHandle::parent)
                .map(ProcessHandle::pid)
                .orElse(0L);
    }

    private static boolean isPostgres(long pid) {
        try {
            return Files.readString(Path.of("/proc", Long.toString(pid), "comm"))
                    .startsWith("postgres");
        } catch (IOException e) {
            return false;
        }
    }

    /** Processor ticks out of a line of {@code /proc/…/stat}: of the process, and of children that have ended. */
    private record Stat(long own, long ofTheDead) {}

    private static double stat(long pid, ToLongFunction<Stat> part) throws IOException {
        String line = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
        String[] fields = line.substring(line.lastIndexOf(')') + 2).split(" ");
        return part.applyAsLong(new Stat(sum(fields, 11), sum(fields, 13)));
    }

    private static long sum(String[] fields, int first) {
        return Long.parseLong(fields[first]) + Long.parseLong(fields[first + 1]);
    }

    @Override
    public void close() throws SQLException {
        connection.close();
    }
}
