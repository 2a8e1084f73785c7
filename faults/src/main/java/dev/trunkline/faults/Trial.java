package dev.trunkline.faults;

import dev.trunkline.checker.Checker;
import dev.trunkline.checker.Event;
import dev.trunkline.checker.Event.Outcome;
import dev.trunkline.checker.Journal;
import dev.trunkline.checker.Limits;
import dev.trunkline.checker.Verdict;
import dev.trunkline.embedded.EmbeddedPostgres;
import dev.trunkline.embedded.EmbeddedPostgresBuilder;
import dev.trunkline.rig.FaultProxy;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A server and a crowd of processes at work on it, for one fault. */
final class Trial implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofMinutes(3);
    private static final Duration CALM = Duration.ofSeconds(3);
    private static final String DATABASE = "trial";

    private final Path journals;
    private final Random random;
    private final @Nullable Disk disk;
    private final EmbeddedPostgres server;
    private final FaultProxy line;
    private final Address address;
    private final Journal journal;
    private final Crowd crowd;
    private int strikes;

    Trial(Fault fault, Path journals, long seed) throws SQLException, IOException, InterruptedException {
        this.journals = journals;
        this.random = new Random(seed);
        this.journal = Journal.create(journals, "trial");
        this.disk = fault.needsDisk() ? Disk.create(journals) : null;
        EmbeddedPostgresBuilder builder = disk == null
                ? EmbeddedPostgres.temporary()
                : EmbeddedPostgres.at(disk.path().resolve("data"));
        builder = builder.setting("track_commit_timestamp", "on");
        for (Map.Entry<String, String> setting : fault.settings().entrySet()) {
            builder = builder.setting(setting.getKey(), setting.getValue());
        }
        this.server = builder.start();
        server.createDatabase(DATABASE);
        this.line = new FaultProxy(server.port());
        this.address = new Address(server.jdbcUrl(DATABASE), server.user(), server.password());
        Workload.create(address);
        this.crowd = new Crowd(
                new Address(line.jdbcUrl(DATABASE), server.user(), server.password()),
                journals,
                new Random(random.nextLong()));
        for (int i = 0; i < 2; i++) {
            crowd.addPublisher(fault.habits());
            crowd.addConsumer();
        }
    }

    /**
     * What came of a trial.
     *
     * @param strikes how often the fault was done
     * @param calmRate messages handled in a second before it was done
     * @param faultRate messages handled in a second while it was done
     */
    record Result(int strikes, double calmRate, double faultRate, Verdict verdict) {}

    /** Lets all work for a while, does a fault again and again, lets all calm down, and checks. */
    Result run(Fault fault, Duration duration) throws Exception {
        double calmRate;
        double faultRate;
        Observer observer = new Observer(address, journal);
        try (observer) {
            awaitMore(100);
            calmRate = rate(() -> LockSupport.parkNanos(CALM.toNanos()));
            faultRate = rate(() -> {
                long end = System.nanoTime() + duration.toNanos();
                do {
                    String call = journal.fault(fault.id() + " " + fault.title());
                    fault.strike(this);
                    journal.end(call, Outcome.OK);
                    strikes++;
                } while (System.nanoTime() - end < 0);
            });
            for (Crowd.Member publisher : crowd.publishers()) {
                publisher.stop();
            }
            journal.write(new Event.Stopped(System.nanoTime()));
            awaitDrained();
            for (Crowd.Member consumer : crowd.consumers()) {
                consumer.stop();
            }
        }
        Evidence.write(address, journal);
        return new Result(strikes, calmRate, faultRate, Checker.check(journals, Limits.standard()));
    }

    @FunctionalInterface
    private interface Action {
        void run() throws Exception;
    }

    /** Messages done in a second by the slower group. */
    private double rate(Action action) throws Exception {
        long before = awaitDone();
        long began = System.nanoTime();
        action.run();
        long after = awaitDone();
        return (after - before) / ((System.nanoTime() - began) / 1e9);
    }

    // ---- for faults ----

    Random random() {
        return random;
    }

    EmbeddedPostgres server() {
        return server;
    }

    Disk disk() {
        return Objects.requireNonNull(disk, "not on a disk of its own");
    }

    /** Whether the server accepts connections. */
    boolean isAnswering() {
        try (Connection connection = connect()) {
            return connection.isValid(5);
        } catch (SQLException e) {
            return false;
        }
    }

    FaultProxy line() {
        return line;
    }

    Crowd crowd() {
        return crowd;
    }

    /** A connection that no fault of the line reaches. */
    Connection connect() throws SQLException {
        return address.connect();
    }

    /** Any of them. */
    <T> T oneOf(List<T> some) {
        return some.get(random.nextInt(some.size()));
    }

    /** Waits a while, up to so long. */
    void pause(Duration most) {
        LockSupport.parkNanos((long) (most.toNanos() * random.nextDouble()));
    }

    /** Waits until every group has done so many more messages. */
    void awaitMore(int messages) {
        long target = awaitDone() + messages;
        await("work flows again", () -> done() >= target);
    }

    private void awaitDrained() {
        await(
                "everything is appended",
                () -> number("select case when topics is null and next_due is null then 0 else 1 end"
                                + " from trunkline.pending() where ?::text[] is not null")
                        == 0);
        await(
                "everything is done",
                () -> number("select sum(lag) from unnest(?::text[]) g cross join trunkline.lag(g, 'orders')") == 0);
    }

    private long awaitDone() {
        long[] count = new long[1];
        await("the server answers", () -> {
            count[0] = done();
            return true;
        });
        return count[0];
    }

    private long done() throws SQLException {
        return number("select min(d) from unnest(?::text[]) g"
                + " cross join lateral (select sum(l.cursor)::bigint as d from trunkline.lag(g, 'orders') l) x");
    }

    private long number(String sql) throws SQLException {
        try (Connection connection = connect();
                PreparedStatement select = connection.prepareStatement(sql)) {
            select.setArray(1, connection.createArrayOf("text", Workload.GROUPS.toArray()));
            try (ResultSet row = select.executeQuery()) {
                row.next();
                return row.getLong(1);
            }
        }
    }

    @FunctionalInterface
    private interface Condition {
        boolean holds() throws SQLException;
    }

    private static void await(String what, Condition condition) {
        long end = System.nanoTime() + PATIENCE.toNanos();
        SQLException last = null;
        do {
            try {
                if (condition.holds()) {
                    return;
                }
            } catch (SQLException e) {
                last = e;
            }
            LockSupport.parkNanos(20_000_000);
        } while (System.nanoTime() - end < 0);
        throw new IllegalStateException("not within " + PATIENCE + ": " + what, last);
    }

    @Override
    public void close() {
        crowd.close();
        line.close();
        server.close();
        if (disk != null) {
            disk.close();
        }
        journal.close();
    }
}
