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

/** A log of one partition and its groups, in a few tables. All of it is right, if it is used as it is meant to be. */
final class Miniature implements AutoCloseable {

    static final String TOPIC = "t";
    static final String GROUP = "g";

    private static final String TABLES = """
            create table lane (next bigint not null, first bigint not null);
            insert into lane values (0, 0);
            create sequence ticket minvalue 0;
            create table log ("offset" bigint not null, key text, value text not null);
            create table business (value text not null);
            create table holder (epoch bigint not null);
            insert into holder values (0);
            create table cursor ("offset" bigint not null);
            insert into cursor values (0);
            create table effect ("offset" bigint not null, epoch bigint not null, value text not null);
            """;

    /** A message of the log. */
    record Entry(long offset, @Nullable String key, String value) {}

    private final DataSource source;
    private final Journal journal;
    private final List<Connection> connections = new CopyOnWriteArrayList<>();

    Miniature(DataSource source, Journal journal) throws SQLException {
        this.source = source;
        this.journal = journal;
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(TABLES);
        }
    }

    Journal journal() {
        return journal;
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
        return journal.publish(
                way,
                TOPIC,
                Stream.of(values).map(value -> new Content(null, value)).toList());
    }

    /** The next offset, which nobody else gets before the transaction has ended. */
    static long lockedOffset(Connection session) throws SQLException {
        long offset = number(session, "select next from lane for update");
        run(session, "update lane set next = next + 1");
        return offset;
    }

    static void insert(Connection session, long offset, @Nullable String key, String value) throws SQLException {
        run(session, "insert into log values (?, ?, ?)", offset, key, value);
    }

    /** Publishes as it should be. */
    void publish(@Nullable String key, String value) throws SQLException {
        String call = journal.publish(Way.PUBLISH, TOPIC, List.of(new Content(key, value)));
        Connection session = session();
        insert(session, lockedOffset(session), key, value);
        session.commit();
        journal.end(call, Outcome.OK);
    }

    // ---- reading ----

    List<Entry> read(long from) throws SQLException {
        try (Connection connection = source.getConnection();
                PreparedStatement select = connection.prepareStatement(
                        "select \"offset\", key, value from log where \"offset\" >= ? order by 1")) {
            select.setLong(1, from);
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
            journal.write(new Event.Read(System.nanoTime(), "reader", TOPIC, 0, entry.offset(), entry.value()));
            next = entry.offset() + 1;
        }
        return next;
    }

    // ---- consuming ----

    /** Becomes the owner. */
    long takeOver() throws SQLException {
        Connection session = session();
        run(session, "update holder set epoch = epoch + 1");
        long epoch = number(session, "select epoch from holder");
        session.commit();
        return epoch;
    }

    /** Whether an epoch is still that of the owner, and stays it until the transaction has ended. */
    static boolean isOwner(Connection session, long epoch) throws SQLException {
        return number(session, "select epoch from holder for no key update") == epoch;
    }

    /** Writes down that a handler was called. */
    String start(String member, long epoch, Entry entry) {
        String call = journal.newCall();
        journal.write(new Event.Start(
                System.nanoTime(), call, GROUP, member, epoch, TOPIC, 0, entry.offset(), entry.key(), entry.value()));
        return call;
    }

    void end(String call, Outcome outcome) {
        journal.end(call, outcome);
    }

    /** Handles a message without any mishap. */
    void handle(String member, long epoch, Entry entry) {
        end(start(member, epoch, entry), Outcome.OK);
    }

    static void effect(Connection session, long epoch, Entry entry) throws SQLException {
        run(session, "insert into effect values (?, ?, ?)", entry.offset(), epoch, entry.value());
    }

    static void setCursor(Connection session, long offset) throws SQLException {
        run(session, "update cursor set \"offset\" = ?", offset);
    }

    long cursor() throws SQLException {
        try (Connection connection = source.getConnection()) {
            return number(connection, "select \"offset\" from cursor");
        }
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
        journal.end(journal.fault(what), Outcome.OK);
    }

    // ---- retention ----

    /** Drops everything before an offset. */
    void drop(long first) throws SQLException {
        Connection session = session();
        run(session, "delete from log where \"offset\" < ?", first);
        run(session, "update lane set first = greatest(first, ?)", first);
        session.commit();
        observe();
    }

    // ---- evidence ----

    /** Writes down what is recorded. */
    void observe() throws SQLException {
        try (Connection connection = source.getConnection()) {
            long cursor = number(connection, "select \"offset\" from cursor");
            long first = number(connection, "select first from lane");
            long now = System.nanoTime();
            journal.write(
                    List.of(new Event.Cursor(now, GROUP, TOPIC, 0, cursor), new Event.First(now, TOPIC, 0, first)));
        }
    }

    /** Writes down what there is in the end. */
    void conclude() throws SQLException {
        for (Connection each : connections) {
            each.rollback();
        }
        long now = System.nanoTime();
        for (Entry entry : read(0)) {
            journal.write(new Event.Logged(now, TOPIC, 0, entry.offset(), entry.key(), entry.value()));
        }
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement()) {
            try (ResultSet row = statement.executeQuery("select value from business")) {
                while (row.next()) {
                    journal.write(new Event.Business(now, TOPIC, row.getString(1)));
                }
            }
            try (ResultSet row = statement.executeQuery(
                    "select (extract(epoch from pg_xact_commit_timestamp(xmin)) * 1000000)::bigint, \"offset\", epoch, value from effect")) {
                while (row.next()) {
                    journal.write(new Event.Effect(
                            row.getLong(1), GROUP, TOPIC, 0, row.getLong(2), row.getLong(3), row.getString(4)));
                }
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
