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
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** One call, one transaction: a batch of submissions into the log, or into the outbox where a lane is taken. */
final class Appender {

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
                statement.setQueryTimeout(Database.STATEMENT_SECONDS);
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
                    row.next();
                    return appended(topic, messages.size(), row);
                }
            }
        });
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

    private static Appended appended(String topic, int size, ResultSet row) throws SQLException {
        Long[] ids = (Long[]) row.getArray(1).getArray();
        Array offsets = row.getArray(3);
        List<Receipt> receipts = new ArrayList<>(size);
        if (offsets == null) {
            for (long id : ids) {
                receipts.add(new Receipt(topic, id, OptionalInt.empty(), OptionalLong.empty(), false));
            }
            return new Appended(receipts, false);
        }
        Iterator<Receipt> added =
                added(topic, ids, (Integer[]) row.getArray(2).getArray(), (Long[]) offsets.getArray(), row.getInt(5));
        @Nullable Long[] holders = longs(row.getArray(4));
        for (int i = 0; i < size; i++) {
            Long holder = holders.length == 0 ? null : holders[i];
            receipts.add(
                    holder == null
                            ? added.next()
                            : new Receipt(topic, holder, OptionalInt.empty(), OptionalLong.empty(), true));
        }
        return new Appended(receipts, true);
    }

    /** The messages that were added, in the order of the batch, which is that of their ids. */
    private static Iterator<Receipt> added(String topic, Long[] ids, Integer[] places, Long[] offsets, int partitions) {
        Receipt[] receipts = new Receipt[ids.length];
        for (int i = 0; i < ids.length; i++) {
            receipts[i] = new Receipt(
                    topic, ids[i], OptionalInt.of(places[i] % partitions), OptionalLong.of(offsets[i]), false);
        }
        Arrays.sort(receipts, Comparator.comparingLong(Receipt::id));
        return Arrays.asList(receipts).iterator();
    }

    private static @Nullable Long[] longs(@Nullable Array array) throws SQLException {
        return array == null ? new Long[0] : (Long[]) array.getArray();
    }
}
