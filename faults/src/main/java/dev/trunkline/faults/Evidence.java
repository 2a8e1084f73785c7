package dev.trunkline.faults;

import dev.trunkline.checker.Event;
import dev.trunkline.checker.Journal;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** What the database holds in the end. */
final class Evidence {

    private static final int CHUNK = 1_000;

    private final Connection connection;
    private final Journal journal;
    private final long now = System.nanoTime();

    private Evidence(Connection connection, Journal journal) {
        this.connection = connection;
        this.journal = journal;
    }

    @FunctionalInterface
    private interface ToEvent {
        Event of(ResultSet row) throws SQLException;
    }

    static void write(Address address, Journal journal) throws SQLException {
        try (Connection connection = address.connect()) {
            connection.setAutoCommit(false);
            new Evidence(connection, journal).write();
        }
    }

    private void write() throws SQLException {
        each(
                "select topic, partition, \"offset\", key, text from trunkline.messages",
                row -> new Event.Logged(
                        now, row.getString(1), row.getInt(2), row.getLong(3), row.getString(4), row.getString(5)));
        journal.write(new Event.Listed(now));
        each(
                "select group_name, topic, partition, \"offset\" from trunkline.dead_letters"
                        // What is parked now waits behind a dead letter.
                        + " union all select s.group_name, t.name, p.strand % t.partitions, p.\"offset\" from trunkline.parked p"
                        + " join trunkline.subscription s on s.id = p.subscription join trunkline.topic t on t.id = s.topic",
                row -> new Event.Letter(now, row.getString(1), row.getString(2), row.getInt(3), row.getLong(4)));
        each(
                "select group_name, topic, partition, \"from\", \"to\" from trunkline.gaps",
                row -> new Event.Gap(
                        now, row.getString(1), row.getString(2), row.getInt(3), row.getLong(4), row.getLong(5)));
        each("select value from business", row -> new Event.Business(now, Workload.ORDERS, row.getString(1)));
        each(
                "select (extract(epoch from pg_xact_commit_timestamp(xmin) - clock_error) * 1000000)::bigint, topic, partition, \"offset\", epoch, value"
                        + " from effect",
                row -> new Event.Effect(
                        row.getLong(1),
                        Workload.EFFECTS,
                        row.getString(2),
                        row.getInt(3),
                        row.getLong(4),
                        row.getLong(5),
                        row.getString(6)));
        accepted();
    }

    private void accepted() throws SQLException {
        each(
                "select (extract(epoch from pg_xact_commit_timestamp(a.xmin) - a.clock_error) * 1000000)::bigint, s.group_name, t.name,"
                        + " a.strand % t.partitions, a.epoch from accepted a"
                        + " join trunkline.subscription s on s.id = a.subscription join trunkline.topic t on t.id = s.topic",
                row -> new Event.Accepted(
                        row.getLong(1), row.getString(2), row.getString(3), row.getInt(4), row.getLong(5)));
    }

    private void each(String sql, ToEvent toEvent) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.setFetchSize(CHUNK);
            List<Event> events = new ArrayList<>();
            try (ResultSet row = statement.executeQuery(sql)) {
                while (row.next()) {
                    events.add(toEvent.of(row));
                    if (events.size() == CHUNK) {
                        journal.write(events);
                        events.clear();
                    }
                }
            }
            journal.write(events);
        }
    }
}
