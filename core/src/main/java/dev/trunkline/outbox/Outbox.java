package dev.trunkline.outbox;

import dev.trunkline.InvalidMessageException;
import dev.trunkline.TrunklineException;
import dev.trunkline.database.Failure;
import dev.trunkline.database.Statements;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Inserts into the outbox, as part of somebody's transaction. */
public final class Outbox {

    private static final int SLOTS = 4;
    /** Well below what a slot is current for, and what it is left alone for before it is cleared. */
    private static final long TRUSTED_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final Statements statements;
    private final PayloadLimit limit;
    private final String[] inserts = new String[SLOTS];
    private final LongSupplier nanoTime;
    private volatile @Nullable Current current;

    /** The current slot, and when that was heard. */
    private record Current(int slot, long heard) {}

    public Outbox(String schema) {
        this(schema, System::nanoTime);
    }

    Outbox(String schema, LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        this.statements = Statements.beside(Outbox.class, "outbox.sql", schema);
        this.limit = new PayloadLimit(schema);
        for (int i = 0; i < SLOTS; i++) {
            inserts[i] = statements.get("insert", i);
        }
    }

    /** Where new messages should go. A hint: they are found in whichever slot they are. */
    void use(int slot) {
        current = new Current(slot, nanoTime.getAsLong());
    }

    /** Inserts one message and returns its id. */
    public long insert(Connection connection, Encoded message) throws SQLException {
        try {
            limit.require(connection, List.of(message));
            // One plain statement costs a third of the function's call. It finds nothing to insert for where something
            // is wrong with the message or the session is new; the function then does it or says why not.
            Current known = current;
            if (known != null && nanoTime.getAsLong() - known.heard < TRUSTED_NANOS) {
                try (PreparedStatement statement = prepare(connection, inserts[known.slot], message);
                        ResultSet row = statement.executeQuery()) {
                    if (row.next()) {
                        return row.getLong(1);
                    }
                }
            }
            return enqueue(connection, message);
        } catch (SQLException e) {
            throw explained(e);
        }
    }

    /** Into the slot that is the current one; which that is, a process without a relay hears only here. */
    private long enqueue(Connection connection, Encoded message) throws SQLException {
        try (PreparedStatement statement = prepare(connection, statements.get("enqueue"), message);
                ResultSet row = statement.executeQuery()) {
            row.next();
            use(row.getInt(2));
            return row.getLong(1);
        }
    }

    /** Inserts messages of one topic and returns their ids. */
    public Long[] insertAll(Connection connection, List<Encoded> messages) throws SQLException {
        Columns columns = new Columns(messages);
        try {
            limit.require(connection, messages);
        } catch (SQLException e) {
            throw explained(e);
        }
        try (PreparedStatement statement = connection.prepareStatement(statements.get("publishAll"))) {
            statement.setString(1, messages.getFirst().topic());
            columns.bindPayloads(statement, 2);
            columns.bindText(statement, 3, Encoded::key);
            columns.bindText(statement, 4, Encoded::headers);
            columns.bindText(statement, 5, Encoded::contentType);
            columns.bindText(statement, 6, Encoded::correlationId);
            columns.bindPriorities(statement, 7);
            columns.bindText(statement, 8, Encoded::due);
            columns.bindText(statement, 9, Encoded::idempotencyKey);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return (Long[]) row.getArray(1).getArray();
            }
        } catch (SQLException e) {
            throw explained(e);
        }
    }

    private static PreparedStatement prepare(Connection connection, String sql, Encoded message) throws SQLException {
        PreparedStatement statement = connection.prepareStatement(sql);
        statement.setString(1, message.topic());
        statement.setBytes(2, message.payload());
        statement.setString(3, message.key());
        statement.setString(4, message.headers());
        statement.setString(5, message.contentType());
        statement.setString(6, message.correlationId());
        statement.setInt(7, message.priority());
        statement.setString(8, message.due());
        statement.setString(9, message.idempotencyKey());
        return statement;
    }

    /** What is wrong with the message is ours to say; what is wrong with the transaction is for its owner to see. */
    private static SQLException explained(SQLException e) {
        String state = String.valueOf(e.getSQLState());
        if (state.startsWith("TL")) {
            throw Failure.explain(e);
        }
        if (state.equals("25P02")) {
            throw new TrunklineException(
                    "the connection's transaction has failed: roll it back, then publish again", e);
        }
        if (state.equals("22P05") || state.equals("22021")) {
            throw new InvalidMessageException("the message can not be stored: " + e.getMessage(), e);
        }
        return e;
    }
}
