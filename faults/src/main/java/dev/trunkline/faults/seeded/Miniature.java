package dev.trunkline.faults.seeded;

import dev.trunkline.checker.Event;
import dev.trunkline.checker.Event.Content;
import dev.trunkline.checker.Event.Outcome;
import dev.trunkline.checker.Event.Way;
import dev.trunkline.checker.Journal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** A partition of a log and the group that reads it, in a few tables. All of it is right, if it is used as it is meant to be. */
final class Miniature implements AutoCloseable {

    static final String GROUP = "g";

    private static final String TABLES = """
            create table lane (topic text, partition int, next bigint not null, first bigint not null, primary key (topic, partition));
            create sequence ticket minvalue 0;
            create table log (topic text, partition int, "offset" bigint not null, key text, value text not null, segment int not null);
            create table business (value text not null);
            create table holder (topic text, partition int, epoch bigint not null);
            create table cursor (topic text, partition int, "offset" bigint not null);
            create table effect (topic text, partition int, "offset" bigint not null, epoch bigint not null, value text not null);
            create table accepted (topic text, partition int, epoch bigint not null);
            create table letter (topic text, partition int, "offset" bigint not null, since bigint not null);
            """;

    /** A message of the log. */
    record Entry(long offset, @Nullable String key, String value) {}

    private final DataSource source;
    private final Journal journal;
    private final String topic;
    private final int partition;
    private final List<Connection> connections;
    private final List<Miniature> lanes;

    Miniature(DataSource source, Journal journal) throws SQLException {
        this(source, journal, "t", 0, new CopyOnWriteArrayList<>(), new CopyOnWriteArrayList<>());
    }

    private Miniature(
            DataSource source,
            Journal journal,
            String topic,
            int partition,
            List<Connection> connections,
            List<Miniature> lanes)
            throws SQLException {
        this.source = source;
        this.journal = journal;
        this.topic = topic;
        this.partition = partition;
        this.connections = connections;
        this.lanes = lanes;
        try (Connection connection = source.getConnection()) {
            if (lanes.isEmpty()) {
                run(connection, TABLES);
            }
            run(connection, "insert into lane values (?, ?, 0, 0)", topic, partition);
            run(connection, "insert into holder values (?, ?, 0)", topic, partition);
            run(connection, "insert into cursor values (?, ?, 0)", topic, partition);
        }
        lanes.add(this);
    }

    /** Another partition, in the same tables. */
    Miniature beside(String otherTopic, int otherPartition) throws SQLException {
        return new Miniature(source, journal, otherTopic, otherPartition, connections, lanes);
    }

    /** A session, in a transaction. */
    Connection session() throws SQLException {
        Connection connection = source.getConnection();
        connection.setAutoCommit(false);
        connections.add(connection);
        return connection;
    }

    static void run(Connection connection, String sql, @Nullable Object... parameters) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            bind(statement, parameters);
            statement.execute();
        }
    }

    static long number(Connection connection, String sql, @Nullable Object... parameters) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            bind(statement, parameters);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getLong(1);
            }
        }
    }

    private static void bind(PreparedStatement statement, @Nullable Object... parameters) throws SQLException {
        for (int i = 0; i < parameters.length; i++) {
            statement.setObject(i + 1, parameters[i]);
        }
    }

    // ---- publishing ----

    /** Writes down that values are to be published, without a key. */
    String begin(Way way, String... values) {
        return begin(
                way, Stream.of(values).map(value -> new Content(null, value)).toArray(Content[]::new));
    }

    String begin(Way way, Content... messages) {
        return journal.publish(way, topic, List.of(messages));
    }

    /** The next offset, which nobody else gets before the transaction has ended. */
    long lockedOffset(Connection session) throws SQLException {
        return number(
                session,
                "update lane set next = next + 1 where topic = ? and partition = ? returning next - 1",
                topic,
                partition);
    }

    void insert(Connection session, long offset, @Nullable String key, String value) throws SQLException {
        insert(session, offset, key, value, 0);
    }

    /** @param segment the part of the table that it is dropped with */
    void insert(Connection session, long offset, @Nullable String key, String value, int segment) throws SQLException {
        run(session, "insert into log values (?, ?, ?, ?, ?, ?)", topic, partition, offset, key, value, segment);
    }

    /** Publishes as it should be. */
    void publish(@Nullable String key, String value) throws SQLException {
        publish(key, value, 0);
    }

    void publish(@Nullable String key, String value, int segment) throws SQLException {
        String call = begin(Way.PUBLISH, new Content(key, value));
        Connection session = session();
        insert(session, lockedOffset(session), key, value, segment);
        session.commit();
        journal.end(call, Outcome.OK);
    }

    // ---- reading ----

    List<Entry> read(long from) throws SQLException {
        return read("\"offset\" >= ?", from);
    }

    /** @param condition of the rows of the log, with parameters */
    List<Entry> read(String condition, @Nullable Object... parameters) throws SQLException {
        try (Connection connection = source.getConnection();
                PreparedStatement select =
                        connection.prepareStatement("select \"offset\", key, value from log where topic = '" + topic
                                + "' and partition = " + partition + " and " + condition + " order by 1")) {
            bind(select, parameters);
            List<Entry> entries = new ArrayList<>();
            try (ResultSet row = select.executeQuery()) {
                while (row.next()) {
                    entries.add(new Entry(row.getLong(1), row.getString(2), row.getString(3)));
                }
            }
            return entries;
        }
    }

    Entry entry(long offset) throws SQLException {
        return read(offset).getFirst();
    }

    /** Reads on from an offset, and returns where to go on. */
    long follow(long from) throws SQLException {
        long next = from;
        for (Entry entry : read(from)) {
            journal.write(new Event.Read(System.nanoTime(), "reader", topic, partition, entry.offset(), entry.value()));
            next = entry.offset() + 1;
        }
        return next;
    }

    // ---- consuming ----

    /** Becomes the owner. */
    long takeOver() throws SQLException {
        Connection session = session();
        long epoch = number(
                session,
                "update holder set epoch = epoch + 1 where topic = ? and partition = ? returning epoch",
                topic,
                partition);
        session.commit();
        return epoch;
    }

    /** Whether an epoch is still that of the owner, and stays it until the transaction has ended. */
    boolean isOwner(Connection session, long epoch) throws SQLException {
        return number(
                        session,
                        "select epoch from holder where topic = ? and partition = ? for no key update",
                        topic,
                        partition)
                == epoch;
    }

    /** Writes down that a handler was called. */
    String start(String member, long epoch, Entry entry) {
        String call = journal.newCall();
        journal.write(new Event.Start(
                System.nanoTime(),
                call,
                GROUP,
                member,
                epoch,
                topic,
                partition,
                entry.offset(),
                entry.key(),
                entry.value()));
        return call;
    }

    void end(String call, Outcome outcome) {
        journal.end(call, outcome);
    }

    /** Handles a message without any mishap. */
    void handle(String member, long epoch, Entry entry) {
        end(start(member, epoch, entry), Outcome.OK);
    }

    void effect(Connection session, long epoch, Entry entry) throws SQLException {
        run(
                session,
                "insert into effect values (?, ?, ?, ?, ?)",
                topic,
                partition,
                entry.offset(),
                epoch,
                entry.value());
    }

    /** Notes who is believed. */
    void accept(Connection session, long epoch) throws SQLException {
        run(session, "insert into accepted values (?, ?, ?)", topic, partition, epoch);
    }

    /** Gives a message up. */
    void giveUp(Entry entry) throws SQLException {
        Connection session = session();
        run(session, "insert into letter values (?, ?, ?, ?)", topic, partition, entry.offset(), System.nanoTime());
        session.commit();
    }

    void setCursor(Connection session, long offset) throws SQLException {
        run(session, "update cursor set \"offset\" = ? where topic = ? and partition = ?", offset, topic, partition);
    }

    long cursor() throws SQLException {
        try (Connection connection = source.getConnection()) {
            return cursor(connection);
        }
    }

    private long cursor(Connection connection) throws SQLException {
        return number(connection, "select \"offset\" from cursor where topic = ? and partition = ?", topic, partition);
    }

    /** Records, in a transaction of its own, that everything before an offset is done. */
    void record(long offset) throws SQLException {
        Connection session = session();
        setCursor(session, offset);
        session.commit();
        observe();
    }

    /** Handles everything from the cursor on, one after the other, and records each. */
    void work(String member, long epoch) throws SQLException {
        for (Entry entry : read(cursor())) {
            handle(member, epoch, entry);
            record(entry.offset() + 1);
        }
    }

    /** Something bad happens. */
    void fault(String what) {
        end(journal.fault(what), Outcome.OK);
    }

    /** All has calmed down. */
    void stop() {
        journal.write(new Event.Stopped(System.nanoTime()));
    }

    // ---- retention ----

    /** Drops everything before an offset. */
    void drop(long first) throws SQLException {
        Connection session = session();
        run(session, "delete from log where topic = ? and partition = ? and \"offset\" < ?", topic, partition, first);
        run(
                session,
                "update lane set first = greatest(first, ?) where topic = ? and partition = ?",
                first,
                topic,
                partition);
        session.commit();
        observe();
    }

    // ---- evidence ----

    /** Writes down what is recorded. */
    void observe() throws SQLException {
        try (Connection connection = source.getConnection()) {
            long cursor = cursor(connection);
            long first =
                    number(connection, "select first from lane where topic = ? and partition = ?", topic, partition);
            long now = System.nanoTime();
            journal.write(List.of(
                    new Event.Cursor(now, GROUP, topic, partition, cursor),
                    new Event.First(now, topic, partition, first)));
        }
    }

    /** Writes down what there is in the end. */
    void conclude() throws SQLException {
        for (Connection each : connections) {
            if (!each.isClosed() && !each.getAutoCommit()) {
                each.rollback();
            }
        }
        long now = System.nanoTime();
        for (Miniature lane : lanes) {
            for (Entry entry : lane.read(0)) {
                journal.write(
                        new Event.Logged(now, lane.topic, lane.partition, entry.offset(), entry.key(), entry.value()));
            }
        }
        journal.write(new Event.Listed(now));
        tell("select value from business", row -> new Event.Business(now, topic, row.getString(1)));
        tell(
                "select topic, partition, \"offset\", since from letter",
                row -> new Event.Letter(now, GROUP, row.getString(1), row.getInt(2), row.getLong(3), row.getLong(4)));
        tell(
                "select topic, partition, \"offset\", epoch, value,"
                        + " (extract(epoch from pg_xact_commit_timestamp(xmin)) * 1000000)::bigint from effect",
                row -> new Event.Effect(
                        row.getLong(6),
                        GROUP,
                        row.getString(1),
                        row.getInt(2),
                        row.getLong(3),
                        row.getLong(4),
                        row.getString(5)));
        tell(
                "select topic, partition, epoch,"
                        + " (extract(epoch from pg_xact_commit_timestamp(xmin)) * 1000000)::bigint from accepted",
                row -> new Event.Accepted(row.getLong(4), GROUP, row.getString(1), row.getInt(2), row.getLong(3)));
    }

    @FunctionalInterface
    private interface ToEvent {
        Event of(ResultSet row) throws SQLException;
    }

    private void tell(String sql, ToEvent toEvent) throws SQLException {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            while (row.next()) {
                journal.write(toEvent.of(row));
            }
        }
    }

    @Override
    public void close() throws SQLException {
        for (Connection connection : connections) {
            connection.close();
        }
    }
}
