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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
                    return appended(topic, row);
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

    /** Offsets follow from the tails of the touched partitions: each message that was added takes the next. */
    private static Appended appended(String topic, ResultSet row) throws SQLException {
        Long[] ids = (Long[]) row.getArray(1).getArray();
        Integer[] partitions = (Integer[]) row.getArray(2).getArray();
        Long[] holders = longs(row.getArray(3));
        Map<Integer, Long> tails = tails(row.getArray(4), row.getArray(5));
        int partitionCount = row.getInt(6);
        List<Receipt> receipts = new ArrayList<>(ids.length);
        for (int i = 0; i < ids.length; i++) {
            if (holders.length > 0 && !holders[i].equals(ids[i])) {
                receipts.add(new Receipt(topic, holders[i], OptionalInt.empty(), OptionalLong.empty(), true));
            } else if (tails.isEmpty()) {
                receipts.add(new Receipt(topic, ids[i], OptionalInt.empty(), OptionalLong.empty(), false));
            } else {
                long offset = tails.merge(partitions[i], 1L, Long::sum);
                receipts.add(new Receipt(
                        topic, ids[i], OptionalInt.of(partitions[i] % partitionCount), OptionalLong.of(offset), false));
            }
        }
        return new Appended(receipts, !tails.isEmpty());
    }

    private static Map<Integer, Long> tails(@Nullable Array touched, @Nullable Array tails) throws SQLException {
        Map<Integer, Long> byPartition = new HashMap<>();
        if (touched != null && tails != null) {
            Integer[] partitions = (Integer[]) touched.getArray();
            Long[] offsets = (Long[]) tails.getArray();
            for (int i = 0; i < partitions.length; i++) {
                byPartition.put(partitions[i], offsets[i]);
            }
        }
        return byPartition;
    }

    private static Long[] longs(@Nullable Array array) throws SQLException {
        return array == null ? new Long[0] : (Long[]) array.getArray();
    }
}
