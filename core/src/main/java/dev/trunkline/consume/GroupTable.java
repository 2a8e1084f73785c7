package dev.trunkline.consume;

import dev.trunkline.DatabaseUnavailableException;
import dev.trunkline.LogMessage;
import dev.trunkline.OutcomeUnknownException;
import dev.trunkline.database.Database;
import dev.trunkline.database.Failure;
import dev.trunkline.database.Statements;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What is kept of groups: the calls of the functions of {@code 009_groups.sql}. */
final class GroupTable {

    private final Database database;
    private final Statements statements;

    GroupTable(Database database, Statements statements) {
        this.database = database;
        this.statements = statements;
    }

    /** A group's place in the database, and the shape of its topic. */
    record Subscription(int id, int partitions, int levels, boolean ordered) {}

    /** What a member can see of its group. */
    record View(String status, int partitions, int mine, List<Integer> others) {}

    Subscription subscribe(String group, String topic, String start) {
        return call(
                "subscribe",
                row -> {
                    row.next();
                    return new Subscription(
                            row.getInt(1),
                            row.getInt(3),
                            row.getInt(4),
                            row.getString(5).equals("ORDERED"));
                },
                group,
                topic,
                start,
                topic);
    }

    void join(int subscription, long session) {
        call("join", row -> row.next(), subscription, session);
    }

    void leave(int subscription, long session) {
        call("leave", row -> row.next(), subscription, session);
    }

    View view(int subscription, long session) {
        return call(
                "shares",
                row -> {
                    row.next();
                    int mine = 0;
                    List<Integer> others = new ArrayList<>();
                    Array sessions = row.getArray(3);
                    if (sessions != null) {
                        Long[] ids = (Long[]) sessions.getArray();
                        Integer[] counts = (Integer[]) row.getArray(4).getArray();
                        for (int i = 0; i < ids.length; i++) {
                            if (ids[i] == session) {
                                mine = counts[i];
                            } else {
                                others.add(counts[i]);
                            }
                        }
                    }
                    return new View(row.getString(1), row.getInt(2), mine, others);
                },
                subscription);
    }

    /**
     * Takes partitions. What was done in them is read in statements of their own, after the take-over was committed: earlier they
     * may not see the last owner's last record.
     */
    List<Owned> take(Subscription subscription, long session, int most) {
        Map<Integer, Long> epochs = call(
                "take",
                row -> {
                    Map<Integer, Long> taken = new TreeMap<>();
                    while (row.next()) {
                        taken.put(row.getInt(1), row.getLong(2));
                    }
                    return taken;
                },
                session,
                subscription.id(),
                most);
        if (epochs.isEmpty()) {
            return List.of();
        }
        Map<Integer, Strand> strands = new TreeMap<>();
        call(
                "done",
                row -> {
                    while (row.next()) {
                        strands.put(
                                row.getInt(1),
                                new Strand(
                                        row.getInt(1), (Long[]) row.getArray(2).getArray(), (Long[])
                                                row.getArray(3).getArray()));
                    }
                    return true;
                },
                subscription.id(),
                epochs.keySet().toArray(Integer[]::new));
        call(
                "attempts",
                row -> {
                    while (row.next()) {
                        Strand strand = strands.get(row.getInt(1));
                        if (strand != null) {
                            strand.remember(row.getLong(2), row.getInt(3));
                        }
                    }
                    return true;
                },
                subscription.id(),
                strands.keySet().toArray(Integer[]::new));
        List<Owned> owned = new ArrayList<>();
        epochs.forEach((partition, epoch) -> owned.add(new Owned(
                partition,
                epoch,
                strands.values().stream()
                        .filter(strand -> strand.number() % subscription.partitions() == partition)
                        .toList())));
        return owned;
    }

    void release(int subscription, long session, List<Integer> partitions) {
        call("release", row -> row.next(), session, subscription, partitions.toArray(Integer[]::new));
    }

    /** Lets go of all partitions of a group but these. */
    void releaseAllBut(int subscription, long session, List<Integer> partitions) {
        call("releaseAllBut", row -> row.next(), session, subscription, partitions.toArray(Integer[]::new));
    }

    /** What was done in one strand. */
    record Entry(int subscription, Owned owned, Strand strand, long sequence, String done) {}

    /** Records entries and returns those that were refused: their partitions belong to somebody else. */
    List<Entry> record(long session, List<Entry> entries) {
        Integer[] accepted = call(
                "record",
                row -> {
                    row.next();
                    Array array = row.getArray(1);
                    return array == null ? new Integer[0] : (Integer[]) array.getArray();
                },
                session,
                column(entries, Integer[]::new, Entry::subscription),
                column(entries, Integer[]::new, entry -> entry.owned().partition()),
                column(entries, Integer[]::new, entry -> entry.strand().number()),
                column(entries, Long[]::new, entry -> entry.owned().epoch()),
                column(entries, Long[]::new, Entry::sequence),
                column(entries, String[]::new, Entry::done));
        List<Entry> refused = new ArrayList<>(entries);
        for (int number : accepted) {
            refused.remove(entries.get(number - 1));
        }
        return refused;
    }

    private static <T> T[] column(
            List<Entry> entries, java.util.function.IntFunction<T[]> array, Function<Entry, T> column) {
        return entries.stream().map(column).toArray(array);
    }

    /** Puts a message with the dead letters, where it is done. False: the partition belongs to somebody else. */
    boolean bury(
            long session, int subscription, Owned owned, Owned.Item item, long sequence, String error, String stack) {
        LogMessage message = item.message;
        List<String> headers = new ArrayList<>();
        message.headers().forEach((name, value) -> {
            headers.add(name);
            headers.add(value);
        });
        return call(
                "bury",
                row -> {
                    row.next();
                    return row.getBoolean(1);
                },
                session,
                subscription,
                owned.partition(),
                item.strand.number(),
                owned.epoch(),
                sequence,
                "{[" + message.offset() + "," + (message.offset() + 1) + ")}",
                message.offset(),
                message.id(),
                message.publishedAt().atOffset(ZoneOffset.UTC),
                message.key(),
                message.correlationId(),
                message.contentType(),
                headers.toArray(String[]::new),
                message.payload(),
                item.failures,
                error,
                stack);
    }

    /** A message's place, and who says that it is done. */
    record Mark(long session, int subscription, Owned owned, Strand strand, long sequence, long offset) {}

    /** Somebody else owns the partition: the transaction was rolled back. */
    static final class Fenced extends Exception {
        private static final long serialVersionUID = 1L;
    }

    /**
     * Runs something and records a message as done, in one transaction, fenced at its end.
     *
     * @throws Fenced if the partition belongs to somebody else
     * @throws OutcomeUnknownException if the connection was lost while it was committed: see {@link #isRecorded}
     * @throws DatabaseUnavailableException if there was no connection: nothing was begun
     */
    void transact(Mark mark, Consumers.Transaction.Body body) throws Exception {
        Connection connection = database.borrow();
        try (connection) {
            connection.setAutoCommit(false);
            try {
                execute(connection, "mark", Long.toString(mark.sequence()));
                body.on(connection);
                if (!execute(
                        connection,
                        "fence",
                        mark.session(),
                        mark.subscription(),
                        mark.owned().partition(),
                        mark.strand().number(),
                        mark.owned().epoch(),
                        mark.sequence(),
                        "{[" + mark.offset() + "," + (mark.offset() + 1) + ")}")) {
                    throw new Fenced();
                }
            } catch (Throwable e) {
                rollBack(connection, e);
                throw e;
            }
            try {
                connection.commit();
            } catch (SQLException e) {
                throw Failure.explain(e);
            }
            connection.setAutoCommit(true);
        }
    }

    private boolean execute(Connection connection, String name, Object... parameters) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(statements.get(name))) {
            for (int i = 0; i < parameters.length; i++) {
                statement.setObject(i + 1, parameters[i]);
            }
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getBoolean(1);
            }
        }
    }

    private static void rollBack(Connection connection, Throwable cause) {
        try {
            connection.rollback();
            connection.setAutoCommit(true);
        } catch (SQLException e) {
            cause.addSuppressed(e);
        }
    }

    /** Whether a transaction whose answer was lost was committed. Waits for it, if it still runs. */
    boolean isRecorded(Mark mark) {
        return call(
                "recorded",
                row -> {
                    row.next();
                    return row.getBoolean(1);
                },
                mark.subscription(),
                mark.owned().partition(),
                mark.strand().number(),
                mark.owned().epoch(),
                mark.sequence());
    }

    void noteFailure(int subscription, Owned.Item item, String error) {
        call(
                "noteFailure",
                row -> row.next(),
                subscription,
                item.strand.number(),
                item.message.offset(),
                item.failures,
                error);
    }

    void forgetFailures(int subscription, Owned.Item item) {
        call("forgetFailures", row -> row.next(), subscription, new Integer[] {item.strand.number()}, new Long[] {
            item.message.offset()
        });
    }

    /** Changes the status, if that is allowed, and returns the one before. */
    String setStatus(int subscription, String status) {
        return call(
                "setStatus",
                row -> {
                    row.next();
                    return row.getString(1);
                },
                subscription,
                status);
    }

    private interface Reading<R> {
        R of(ResultSet row) throws SQLException;
    }

    private <R> R call(String name, Reading<R> reading, @Nullable Object... parameters) {
        return database.call(connection -> {
            try (PreparedStatement statement = connection.prepareStatement(statements.get(name))) {
                for (int i = 0; i < parameters.length; i++) {
                    Object parameter = parameters[i];
                    switch (parameter) {
                        case Integer[] ints -> statement.setArray(i + 1, connection.createArrayOf("int4", ints));
                        case Long[] longs -> statement.setArray(i + 1, connection.createArrayOf("int8", longs));
                        case String[] texts -> statement.setArray(i + 1, connection.createArrayOf("text", texts));
                        case null -> statement.setString(i + 1, null);
                        default -> statement.setObject(i + 1, parameter);
                    }
                }
                try (ResultSet row = statement.executeQuery()) {
                    return reading.of(row);
                }
            }
        });
    }
}
