package dev.trunkline.faults;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;

/** How the work of a crowd stands, by what its database says on a connection that no fault of the line reaches; and waiting for it to stand so. */
final class Standing {

    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final Address address;

    Standing(Address address) {
        this.address = address;
    }

    /** Messages done in a second by all groups. */
    double rate(Trial.Action action) throws Exception {
        long before = LongStream.of(awaitDone()).sum();
        long began = System.nanoTime();
        action.run();
        long after = LongStream.of(awaitDone()).sum();
        return (after - before) / ((System.nanoTime() - began) / 1e9);
    }

    /** How many messages are done in a second, for a while. */
    double pace(Duration time) throws Exception {
        return rate(() -> LockSupport.parkNanos(time.toNanos()));
    }

    /** Whether the server accepts connections. */
    boolean isAnswering() {
        try (Connection connection = address.connect()) {
            return connection.isValid(5);
        } catch (SQLException e) {
            return false;
        }
    }

    /** Whether a process holds nothing, by what is recorded. */
    boolean isWithout(long pid) throws SQLException {
        return numbers("select count(*) from trunkline.holder h join trunkline.session s on s.id = h.session"
                        + " where split_part(s.name, '@', 1) = '" + pid + "'")[0]
                == 0;
    }

    /** What is given up counts as told, and nothing of the crowd's work is to be given up. */
    void requireNothingGivenUp() throws SQLException {
        long letters = number("select count(*) from trunkline.dead_letters");
        long gaps = number("select count(*) from trunkline.gaps g join stake s using (group_name, topic)");
        if (letters + gaps > 0) {
            throw new IllegalStateException(letters + " dead letters and " + gaps + " gaps in the end");
        }
    }

    /** Waits for something that a fault needs. */
    static void await(String what, Condition condition) {
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

    /** What may come true. */
    @FunctionalInterface
    interface Condition {
        boolean holds() throws SQLException;
    }

    void awaitDrained() {
        await(
                "everything is appended",
                () -> numbers(
                                "select count(*) from trunkline.pending() p where p.topics is not null or p.next_due is not null")[
                                0]
                        == 0);
        await(
                "everything is done",
                () -> numbers(
                                "select max(abs(l.lag)) from heard s cross join lateral trunkline.lag(s.group_name, s.topic) l")[
                                0]
                        == 0);
        await(
                "nothing is parked but behind a dead letter",
                () -> numbers("select count(*) from trunkline.parked p join heard s on s.id = p.subscription"
                                + " where not exists (select from trunkline.dead_letter d"
                                + " where d.subscription = p.subscription and d.key = p.key)")[0]
                        == 0);
    }

    /** Who reads along is as far as the log goes: one that has stopped has seen no offset left out either. */
    boolean isReadToItsEnd(Follower follower) throws SQLException {
        try (Connection connection = address.connect();
                PreparedStatement select = connection.prepareStatement(
                        "select e.n - 1, e.\"end\" from trunkline.topic t cross join lateral trunkline.bounds(t.id) b"
                                + " cross join lateral unnest(b.firsts, b.ends) with ordinality e (first, \"end\", n)"
                                + " where t.name = ? and e.first < e.\"end\"")) {
            select.setString(1, Workload.ORDERS);
            try (ResultSet row = select.executeQuery()) {
                while (row.next()) {
                    if (follower.next(row.getInt(1)) < row.getLong(2)) {
                        return false;
                    }
                }
            }
        }
        return true;
    }

    long[] awaitDone() {
        AtomicReference<long[]> counts = new AtomicReference<>();
        await("the server answers", () -> {
            counts.set(done());
            return true;
        });
        return counts.get();
    }

    /** How many messages are done, for every group and topic. */
    long[] done() throws SQLException {
        return numbers("select coalesce(sum(l.cursor), 0)::bigint from stake s"
                + " cross join lateral trunkline.lag(s.group_name, s.topic) l group by s.id order by s.id");
    }

    void execute(String sql) throws SQLException {
        try (Connection connection = address.connect();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** The first number that a query gives, 0 if it gives none. */
    long number(String sql, Object... parameters) throws SQLException {
        long[] all = numbers(sql, parameters);
        return all.length == 0 ? 0 : all[0];
    }

    private long[] numbers(String sql, Object... parameters) throws SQLException {
        try (Connection connection = address.connect();
                PreparedStatement select = connection.prepareStatement(sql)) {
            for (int i = 0; i < parameters.length; i++) {
                select.setObject(i + 1, parameters[i]);
            }
            LongStream.Builder numbers = LongStream.builder();
            try (ResultSet row = select.executeQuery()) {
                while (row.next()) {
                    numbers.add(row.getLong(1));
                }
            }
            return numbers.build().toArray();
        }
    }
}
