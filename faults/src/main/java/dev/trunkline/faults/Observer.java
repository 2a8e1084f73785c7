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
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Looks every now and then at what is recorded, and writes it down. */
final class Observer implements AutoCloseable {

    private static final int PAUSE_MILLIS = 100;

    private static final String LOOK = """
            select s.group_name, t.name, l.partition, least(l.cursor, p.first), l.cursor, coalesce(b.firsts[l.partition + 1], 0)
            from trunkline.subscription s join trunkline.topic t on t.id = s.topic
            cross join lateral trunkline.lag(s.group_name, t.name) l
            cross join lateral trunkline.bounds(t.id) b
            left join lateral (
                -- What is parked or a dead letter is done as far as the log goes, and may still be handled.
                select min(d."offset") as first
                from (
                    select k.subscription, k.strand, k."offset" from trunkline.parked k
                    union all
                    select k.subscription, k.strand, k."offset" from trunkline.dead_letter k) d
                where d.subscription = s.id and d.strand = l.partition) p on true
            where t.name = any (?)
            """;

    private final Address address;
    private final Journal journal;
    private final CountDownLatch end = new CountDownLatch(1);
    private final AtomicInteger looks = new AtomicInteger();
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
            looks.incrementAndGet();
            return now;
        } catch (SQLException e) {
            close(now); // the server is away, as may be; it is looked at again soon
            return null;
        }
    }

    /** What is recorded. Its time is when the answer has come: by then all of it was done. */
    private static List<Event> recorded(Connection connection) throws SQLException {
        try (PreparedStatement select = connection.prepareStatement(LOOK)) {
            select.setArray(1, connection.createArrayOf("text", Workload.TOPICS.toArray()));
            List<Event> seen = new ArrayList<>();
            try (ResultSet row = select.executeQuery()) {
                long now = System.nanoTime();
                while (row.next()) {
                    seen.add(new Event.Cursor(
                            now, row.getString(1), row.getString(2), row.getInt(3), row.getLong(4), row.getLong(5)));
                    seen.add(new Event.First(now, row.getString(2), row.getInt(3), row.getLong(6)));
                }
            }
            return seen;
        }
    }

    /** How often it has seen something. */
    int looks() {
        return looks.get();
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
