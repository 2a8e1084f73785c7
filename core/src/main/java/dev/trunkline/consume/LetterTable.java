package dev.trunkline.consume;

import dev.trunkline.DatabaseUnavailableException;
import dev.trunkline.LogMessage;
import dev.trunkline.OutcomeUnknownException;
import dev.trunkline.Priority;
import dev.trunkline.TrunklineException;
import dev.trunkline.consume.Run.Item;
import dev.trunkline.database.Failure;
import java.sql.Array;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a group could not do at once, and the fence of what it did: the functions of {@code 010_letters.sql}, for one group. */
final class LetterTable {

    private static final Logger log = LoggerFactory.getLogger(LetterTable.class);
    private static final long NEXT_QUESTION = TimeUnit.MILLISECONDS.toNanos(200);
    private static final long CONNECTION_SECONDS = 10;

    private final Calls calls;
    private final Semaphore permits;
    private final Runnable recordNow;
    private final Subject subject;
    private final int subscription;

    /**
     * Those of a group.
     *
     * @param permits for as many transactions of handlers as there are connections for
     * @param recordNow records all that was done: what is set aside must not come before what its key has done, should that come again
     */
    LetterTable(Calls calls, Semaphore permits, Runnable recordNow, Subject subject, int subscription) {
        this.calls = calls;
        this.permits = permits;
        this.recordNow = recordNow;
        this.subject = subject;
        this.subscription = subscription;
    }

    /** Messages of one strand, who says something about them, and the number of that record. */
    record Mark(long session, Owned owned, Strand strand, long sequence, List<Item> items) {

        @Nullable
        Object[] with(int subscription, @Nullable Object... more) {
            List<@Nullable Object> all = new ArrayList<>(
                    List.of(session, subscription, owned.partition(), strand.number(), owned.epoch(), sequence));
            all.addAll(Arrays.asList(more));
            return all.toArray();
        }

        Long[] offsets() {
            return items.stream().map(item -> item.message.offset()).toArray(Long[]::new);
        }

        boolean parked() {
            return !items.isEmpty() && items.getFirst().parked;
        }
    }

    /** Somebody else owns the partition: nothing was changed. */
    static final class Fenced extends Exception {
        private static final long serialVersionUID = 1L;
    }

    /** Records messages as done, where they lie. */
    void settle(Mark mark) throws Fenced {
        require(calls.ask("settle", mark.with(subscription, mark.offsets(), mark.parked())));
    }

    /** What is done in a transaction, and what is to be buried in it. */
    interface Body {
        List<Burial> on(Connection connection) throws Exception;
    }

    /** Messages that are given up. */
    record Burial(Mark mark, int attempts, String error, String stack, boolean stop) {}

    /**
     * Runs something and records messages as done, in one transaction, fenced at its end.
     *
     * @param idleMillis how long the transaction may be left alone
     * @throws Fenced if the partition belongs to somebody else
     * @throws OutcomeUnknownException if the connection was lost while it was committed: see {@link #wasRecorded}
     * @throws DatabaseUnavailableException if there was no connection: nothing was begun
     */
    void transact(Mark mark, long idleMillis, Body body) throws Exception {
        if (!permits.tryAcquire(CONNECTION_SECONDS, TimeUnit.SECONDS)) {
            throw new DatabaseUnavailableException(
                    "all connections for handlers are taken",
                    new TimeoutException("after " + CONNECTION_SECONDS + " s"));
        }
        try {
            transactNow(mark, idleMillis, body);
        } finally {
            permits.release();
        }
    }

    private void transactNow(Mark mark, long idleMillis, Body body) throws Exception {
        Connection connection = calls.database().borrow();
        boolean committed = false;
        try (connection) {
            connection.setAutoCommit(false);
            try {
                calls.ask(
                        connection,
                        "mark",
                        Long.toString(mark.sequence()),
                        "trunkline session " + mark.session(),
                        Long.toString(idleMillis));
                for (Burial burial : body.on(connection)) {
                    require(calls.ask(connection, "bury", parameters(burial)));
                }
                require(calls.ask(connection, "fence", mark.with(subscription, mark.offsets(), mark.parked())));
            } catch (Throwable e) {
                rollBack(connection, e);
                throw e;
            }
            try {
                connection.commit();
            } catch (SQLException e) {
                throw Failure.explain(e);
            }
            committed = true;
            connection.setAutoCommit(true);
        } catch (SQLException e) {
            if (!committed) {
                throw e;
            }
            subject.of(log.atWarn(), mark.owned().partition())
                    .log("a connection was lost after it had committed, which does no harm: {}", e.getMessage());
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
    private boolean isRecorded(Mark mark) {
        return calls.ask(
                "recorded",
                subscription,
                mark.owned().partition(),
                mark.strand().number(),
                mark.owned().epoch(),
                mark.sequence());
    }

    /** Puts messages with the dead letters, where they are done. */
    void bury(Burial burial) throws Fenced {
        recordNow.run();
        decide(burial.mark(), () -> calls.ask("bury", parameters(burial)));
    }

    /** Does something that is recorded; if its answer is lost, asks until it is known whether it was done. */
    private void decide(Mark mark, BooleanSupplier action) throws Fenced {
        try {
            require(action.getAsBoolean());
        } catch (OutcomeUnknownException e) {
            if (!wasRecorded(mark)) {
                throw e;
            }
        }
    }

    /** Asks until it is known. Who lost the partition need not know. */
    boolean wasRecorded(Mark mark) throws Fenced {
        while (!mark.owned().isLost()) {
            try {
                return isRecorded(mark);
            } catch (TrunklineException e) {
                subject.of(log.atWarn(), mark.owned().partition())
                        .log("not yet known whether a record was committed: {}", e.getMessage());
                Thread.interrupted(); // who is hurried must still know
                LockSupport.parkNanos(NEXT_QUESTION);
            }
        }
        throw new Fenced();
    }

    private @Nullable Object[] parameters(Burial burial) {
        List<@Nullable Object> more = letters(burial.mark().items());
        more.addAll(List.of(burial.attempts(), burial.error(), burial.stack(), burial.stop()));
        return burial.mark().with(subscription, more.toArray());
    }

    /** Copies messages aside: in the log they are done. */
    void park(Mark mark) throws Fenced {
        recordNow.run();
        decide(
                mark,
                () -> calls.ask(
                        "park", mark.with(subscription, letters(mark.items()).toArray())));
    }

    private static List<@Nullable Object> letters(List<Item> items) {
        List<LogMessage> messages = items.stream().map(item -> item.message).toList();
        List<@Nullable Object> columns = new ArrayList<>();
        columns.add(column(messages, Long[]::new, LogMessage::offset));
        columns.add(column(messages, Long[]::new, LogMessage::id));
        columns.add(column(messages, Long[]::new, LogMessage::unit));
        columns.add(column(messages, Boolean[]::new, LogMessage::unitEnd));
        columns.add(
                column(messages, String[]::new, message -> message.publishedAt().toString()));
        columns.add(
                column(messages, String[]::new, message -> message.appendedAt().toString()));
        columns.add(column(messages, String[]::new, LogMessage::key));
        columns.add(column(messages, String[]::new, LogMessage::correlationId));
        columns.add(column(messages, String[]::new, LogMessage::contentType));
        columns.add(column(messages, String[]::new, message -> literal(message.headers())));
        columns.add(column(messages, byte[][]::new, LogMessage::payload));
        return columns;
    }

    private static <T extends @Nullable Object> T[] column(
            List<LogMessage> messages, IntFunction<T[]> array, Function<LogMessage, T> column) {
        return messages.stream().map(column).toArray(array);
    }

    /** Names and values as the literal of an array. */
    private static @Nullable String literal(Map<String, String> headers) {
        if (headers.isEmpty()) {
            return null;
        }
        StringBuilder literal = new StringBuilder("{");
        headers.forEach((name, value) -> {
            literal.append(literal.length() > 1 ? "," : "");
            quote(literal, name);
            quote(literal.append(','), value);
        });
        return literal.append('}').toString();
    }

    private static void quote(StringBuilder literal, String text) {
        literal.append('"')
                .append(text.replace("\\", "\\\\").replace("\"", "\\\""))
                .append('"');
    }

    /** Lets a key go on with what comes from the log; without a key, all of a strand of which nothing is parked. */
    void unblock(long session, Run run) throws Fenced {
        require(calls.ask(
                "unblock",
                session,
                subscription,
                run.owned.partition(),
                run.strand.number(),
                run.owned.epoch(),
                run.key));
    }

    /** Parked messages that are handled one after the other; null: those that need not wait for a key. */
    record Line(int strand, @Nullable String key, boolean stopped, long parked) {}

    List<Line> lines(List<Integer> partitions) {
        return calls.call(
                "lines",
                row -> {
                    List<Line> lines = new ArrayList<>();
                    while (row.next()) {
                        lines.add(new Line(row.getInt(1), row.getString(2), row.getBoolean(3), row.getLong(4)));
                    }
                    return lines;
                },
                subscription,
                partitions.toArray(Integer[]::new));
    }

    /**
     * The first parked messages of a line, with how often each has failed.
     *
     * @param all whatever their keys are, if the run has none
     * @param bytes after which no further one is read
     */
    List<Item> line(Run run, Priority priority, boolean all, int most, long bytes) {
        Calls.Reading<List<Item>> reading = row -> {
            List<Item> items = new ArrayList<>();
            while (row.next()) {
                items.add(new Item(message(run, priority, row), run.strand, row.getInt(12), true));
            }
            return items;
        };
        return run.key == null
                ? calls.call("keylessLine", reading, subscription, run.strand.number(), all, most, bytes)
                : calls.call("line", reading, subscription, run.strand.number(), run.key, most, bytes);
    }

    private LogMessage message(Run run, Priority priority, ResultSet row) throws SQLException {
        return new LogMessage(
                subject.topic(),
                run.owned.partition(),
                priority,
                row.getLong(1),
                row.getLong(2),
                row.getLong(3),
                row.getBoolean(4),
                row.getString(7),
                headers(row.getArray(10)),
                row.getString(9),
                row.getString(8),
                instant(row, 5),
                instant(row, 6),
                row.getBytes(11));
    }

    static Map<String, String> headers(@Nullable Array namesAndValues) throws SQLException {
        Map<String, String> headers = new LinkedHashMap<>();
        if (namesAndValues != null) {
            String[] texts = (String[]) namesAndValues.getArray();
            for (int i = 0; i < texts.length; i += 2) {
                headers.put(texts[i], texts[i + 1]);
            }
        }
        return headers;
    }

    private static Instant instant(ResultSet row, int column) throws SQLException {
        return row.getObject(column, OffsetDateTime.class).toInstant();
    }

    /** Carries out what was decided on dead letters in the partitions of a session. Returns how many there were. */
    int carryOut(long session) {
        return calls.call(
                "carryOut",
                row -> {
                    row.next();
                    return row.getInt(1);
                },
                session,
                subscription);
    }

    /** Notes messages before they are started; what was noted before is over. */
    void noteSuspects(long session, List<Item> items, boolean alone) {
        calls.run(
                "noteSuspects",
                session,
                subscription,
                items.stream().map(item -> item.strand.number()).toArray(Integer[]::new),
                items.stream().map(item -> item.message.offset()).toArray(Long[]::new),
                alone);
    }

    void noteFailures(long session, List<Item> items, String error) {
        calls.run(
                "noteFailures",
                subscription,
                items.getFirst().strand.number(),
                items.stream().map(item -> item.message.offset()).toArray(Long[]::new),
                items.stream().map(item -> item.failures).toArray(Integer[]::new),
                error,
                session);
    }

    void forgetFailures(long session, List<Item> items) {
        calls.run(
                "forgetFailures",
                subscription,
                items.getFirst().strand.number(),
                items.stream().map(item -> item.message.offset()).toArray(Long[]::new),
                session);
    }

    private static void require(boolean held) throws Fenced {
        if (!held) {
            throw new Fenced();
        }
    }
}
