package dev.trunkline.outbox;

import dev.trunkline.Observer;
import dev.trunkline.database.Database;
import dev.trunkline.database.Failure;
import dev.trunkline.database.Loop;
import dev.trunkline.database.Statements;
import java.sql.Array;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs the relay. Any process may; a lane that another one is appending to is left to it. With nothing to do it looks
 * ever more rarely, down to the poll interval; a publish in this process makes it look again after 1, 2, 4 … 64 ms, since
 * nobody tells when a caller's transaction commits.
 */
public final class Relay implements AutoCloseable {

    private static final long FIRST_LOOK = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long LAST_LOOK = TimeUnit.MILLISECONDS.toNanos(64);
    /** Under load the relay takes this share of its own time off, so that runs are worth their commit. */
    private static final int REST = 2;

    private static final long LONGEST_REST = TimeUnit.MILLISECONDS.toNanos(20);
    private static final int LARGE_RUN = 5_000;

    private final Database database;
    private final Outbox outbox;
    private final Statements statements;
    private final Consumer<String> onAppend;
    private final long pollInterval;
    private final Observer observer;
    private final Loop loop;
    private volatile long nextLook = FIRST_LOOK;

    /**
     * A relay that does not run yet.
     *
     * @param onAppend told the topic of each run that appended something
     */
    public Relay(
            Database database, Outbox outbox, Duration pollInterval, Consumer<String> onAppend, Observer observer) {
        this.database = database;
        this.outbox = outbox;
        this.statements = Statements.beside(Outbox.class, "outbox.sql", database.schema());
        this.onAppend = onAppend;
        this.pollInterval = pollInterval.toNanos();
        this.observer = observer;
        this.loop = new Loop("trunkline-relay", this::step);
    }

    public Relay start() {
        loop.start();
        return this;
    }

    /** Something was or will soon be committed to the outbox. */
    public void expect() {
        boolean resting = nextLook > FIRST_LOOK;
        nextLook = FIRST_LOOK;
        if (resting) {
            loop.wake();
        }
    }

    /**
     * Relays everything that is committed and due now. What others publish meanwhile is not waited for: with much of it there would be no end. Returns how many
     * messages got their place.
     */
    public long runOnce() {
        Run run = run(Moment.NOW);
        Moment began = run.began();
        long moved = run.moved();
        while (run.moved() > 0) {
            run = run(began);
            moved += run.moved();
        }
        return moved;
    }

    private Duration step() {
        long began = System.nanoTime();
        Run run = run(Moment.NOW);
        if (run.moved() > 0) {
            nextLook = FIRST_LOOK;
            if (run.moved() >= LARGE_RUN) {
                return Duration.ZERO;
            }
            return Duration.ofNanos(Math.clamp(REST * (System.nanoTime() - began), FIRST_LOOK, LONGEST_REST));
        }
        long look = nextLook;
        nextLook = Math.min(look * 2, Math.max(pollInterval, LAST_LOOK * 2));
        return Duration.ofNanos(Math.min(look <= LAST_LOOK ? look : pollInterval, run.nextDue()));
    }

    /** One look, and one run for each topic that has something of what was committed, or due, by then. */
    private Run run(Moment upto) {
        return database.call(connection -> {
            Integer[] topics;
            double nextDue;
            Moment began;
            try (PreparedStatement statement = connection.prepareStatement(statements.get("pending"))) {
                statement.setString(1, upto.snapshot());
                statement.setString(2, upto.time());
                try (ResultSet row = statement.executeQuery()) {
                    row.next();
                    Array array = row.getArray(1);
                    topics = array == null ? new Integer[0] : (Integer[]) array.getArray();
                    nextDue = row.getDouble(2);
                    if (row.wasNull()) {
                        nextDue = Double.POSITIVE_INFINITY;
                    }
                    outbox.use(row.getInt(3));
                    began = new Moment(row.getString(4), row.getString(5));
                }
            }
            long moved = 0;
            try (PreparedStatement statement = connection.prepareStatement(statements.get("relay"))) {
                statement.setQueryTimeout(Database.STATEMENT_SECONDS);
                for (int topic : topics) {
                    moved += relay(statement, topic);
                }
            }
            return new Run(
                    moved,
                    nextDue > 3600 ? Long.MAX_VALUE : (long) Math.max((double) FIRST_LOOK, nextDue * 1e9),
                    began);
        });
    }

    private long relay(PreparedStatement statement, int topic) throws SQLException {
        long began = System.nanoTime();
        statement.setInt(1, topic);
        try (ResultSet row = statement.executeQuery()) {
            if (!row.next()) {
                return 0; // it was dropped
            }
            long moved = row.getLong(1);
            if (moved > 0) {
                onAppend.accept(row.getString(2));
                observer.relayed(row.getString(2), moved, Duration.ofNanos(System.nanoTime() - began));
            }
            return moved;
        } catch (SQLException e) {
            if (Failure.of(e) == Failure.LOCKED) {
                return 0;
            }
            throw e;
        }
    }

    @Override
    public void close() {
        loop.close();
    }

    /**
     * @param nextDue nanoseconds until the next delayed message is due
     * @param began when it looked
     */
    private record Run(long moved, long nextDue, Moment began) {}

    /** A moment as the database says it: what was committed by then, and what time it was. */
    private record Moment(
            @Nullable String snapshot, @Nullable String time) {
        static final Moment NOW = new Moment(null, null);
    }
}
