package dev.trunkline.faults;

import dev.trunkline.checker.Event;
import dev.trunkline.checker.Journal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Looks every now and then at what is recorded, and writes it down. */
final class Observer implements AutoCloseable {

    private static final int PAUSE_MILLIS = 100;

    private static final String LOOK = """
            select k.group_name, l.partition, least(l.cursor, p.first) as cursor, coalesce(f.first, 0) as first
            from unnest(?::text[]) k (group_name)
            cross join lateral trunkline.lag(k.group_name, ?) l
            left join lateral (
                -- What is parked is done as far as the log goes, and is still to be handled.
                select min(d."offset") as first from trunkline.parked d join trunkline.subscription s on s.id = d.subscription
                where s.group_name = k.group_name and d.strand = l.partition) p on true
            left join lateral (
                select b.firsts[l.partition + 1] as first from trunkline.topic t cross join lateral trunkline.bounds(t.id) b
                where t.name = ?) f on true
            """;

    private final Address address;
    private final Journal journal;
    private final CountDownLatch end = new CountDownLatch(1);
    private final Thread thread;

    Observer(Address address, Journal journal) {
        this.address = address;
        this.journal = journal;
        this.thread = Thread.ofPlatform().name("observer").start(this::run);
    }

    private void run() {
        Connection connection = null;
        try {
            while (!end.await(PAUSE_MILLIS, TimeUnit.MILLISECONDS)) {
                connection = look(connection);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            close(connection);
        }
    }

    /** The connection, if it is still good. */
    private @Nullable Connection look(@Nullable Connection connection) {
        Connection now = connection;
        try {
            now = now == null ? address.connect() : now;
            journal.write(recorded(now));
            return now;
        } catch (SQLException e) {
            close(now); // the server is away, as may be; it is looked at again soon
            return null;
        }
    }

    /** What is recorded. Its time is when the answer has come: by then all of it was done. */
    private static List<Event> recorded(Connection connection) throws SQLException {
        try (PreparedStatement select = connection.prepareStatement(LOOK)) {
            select.setArray(1, connection.createArrayOf("text", Workload.GROUPS.toArray()));
            select.setString(2, Workload.TOPIC);
            select.setString(3, Workload.TOPIC);
            List<Event> seen = new ArrayList<>();
            try (ResultSet row = select.executeQuery()) {
                long now = System.nanoTime();
                while (row.next()) {
                    seen.add(new Event.Cursor(now, row.getString(1), Workload.TOPIC, row.getInt(2), row.getLong(3)));
                    seen.add(new Event.First(now, Workload.TOPIC, row.getInt(2), row.getLong(4)));
                }
            }
            return seen;
        }
    }

    private static void close(@Nullable Connection connection) {
        if (connection != null) {
            try {
                connection.close();
            } catch (SQLException e) {
                System.err.println("observer: " + e.getMessage());
            }
        }
    }

    @Override
    public void close() {
        end.countDown();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
