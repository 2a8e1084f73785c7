package dev.trunkline.publish;

import dev.trunkline.Receipt;
import dev.trunkline.database.Database;
import dev.trunkline.database.Statements;
import dev.trunkline.outbox.Columns;
import dev.trunkline.outbox.Encoded;
import java.sql.Array;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** One call, one transaction: a batch of submissions into the log, or into the outbox where a lane is taken. */
final class Appender {

    private static final String TRANSACTION_RESOLUTION_UNKNOWN = "08007";

    private final Database database;
    private final Statements statements;

    Appender(Database database) {
        this.database = database;
        this.statements = Statements.beside(Appender.class, "publisher.sql", database.schema());
    }

    /** The receipts of a batch, in its order, and whether it went straight into the log. */
    record Appended(List<Receipt> receipts, boolean direct) {}

    /** @param wait for lanes that are taken, rather than going to the outbox */
    Appended append(List<Submission> batch, boolean wait) throws SQLException {
        List<Encoded> messages = new ArrayList<>();
        batch.forEach(submission -> messages.addAll(submission.messages()));
        Columns columns = new Columns(messages);
        String topic = messages.getFirst().topic();
        return database.attempt(connection -> {
            try (PreparedStatement statement = connection.prepareStatement(statements.get("append"))) {
                statement.setString(1, topic);
                statement.setBoolean(2, wait);
                columns.bindText(statement, 3, Encoded::key);
                columns.bindPayloads(statement, 4);
                columns.bindText(statement, 5, Encoded::headers);
                columns.bindText(statement, 6, Encoded::contentType);
                columns.bindText(statement, 7, Encoded::correlationId);
                columns.bindPriorities(statement, 8);
                columns.bindText(statement, 9, Encoded::due);
                columns.bindText(statement, 10, Encoded::idempotencyKey);
                Columns.bind(statement, 11, "int4", units(batch, messages.size()));
                try (ResultSet row = statement.executeQuery()) {
                    requireNoWarning(statement.getWarnings());
                    row.next();
                    return appended(topic, row);
                }
            }
        });
    }

    /** The only warning of a commit: that the wait for a synchronous standby was given up, so it may not be on one. */
    private static void requireNoWarning(@Nullable SQLWarning warning) throws SQLException {
        if (warning != null) {
            throw new SQLException(warning.getMessage(), TRANSACTION_RESOLUTION_UNKNOWN, warning);
        }
    }

    /** For each message, the place in the batch of the last message of its submission; null if all stand alone. */
    private static Integer @Nullable [] units(List<Submission> batch, int size) {
        if (batch.size() == size) {
            return null;
        }
        Integer[] units = new Integer[size];
        int place = 0;
        for (Submission submission : batch) {
            int last = place + submission.size();
            while (place < last) {
                units[place++] = last;
            }
        }
        return units;
    }

    private static Appended appended(String topic, ResultSet row) throws SQLException {
        List<Receipt> receipts = new ArrayList<>();
        Array ids = row.getArray(1);
        if (ids != null) {
            for (Long id : (Long[]) ids.getArray()) {
                receipts.add(new Receipt(topic, id, OptionalInt.empty(), OptionalLong.empty(), false));
            }
            return new Appended(receipts, false);
        }
        long baseId = row.getLong(2);
        int partitionCount = row.getInt(3);
        Integer[] places = (Integer[]) row.getArray(4).getArray();
        long[] tails = tails(
                (Integer[]) row.getArray(5).getArray(), (Long[]) row.getArray(6).getArray());
        @Nullable Long[] holders = longs(row.getArray(7));
        for (int i = 0; i < places.length; i++) {
            Long holder = holders.length == 0 ? null : holders[i];
            int place = places[i];
            receipts.add(
                    holder != null
                            ? new Receipt(topic, holder, OptionalInt.empty(), OptionalLong.empty(), true)
                            : new Receipt(
                                    topic,
                                    baseId + 2L * (i + 1),
                                    OptionalInt.of(place % partitionCount),
                                    OptionalLong.of(++tails[place]),
                                    false));
        }
        return new Appended(receipts, true);
    }

    /** The last offsets before the batch, by place. */
    private static long[] tails(Integer[] touched, Long[] offsets) {
        long[] tails = new long[touched[touched.length - 1] + 1];
        for (int i = 0; i < touched.length; i++) {
            tails[touched[i]] = offsets[i];
        }
        return tails;
    }

    private static @Nullable Long[] longs(@Nullable Array array) throws SQLException {
        return array == null ? new Long[0] : (Long[]) array.getArray();
    }
}
