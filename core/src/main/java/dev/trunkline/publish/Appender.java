package dev.trunkline.publish;

import dev.trunkline.Receipt;
import dev.trunkline.TrunklineException;
import dev.trunkline.database.Database;
import dev.trunkline.database.Statements;
import dev.trunkline.outbox.PayloadLimit;
import java.sql.Array;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLWarning;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One call, one transaction: a batch of submissions into the log, or into the outbox where a lane is taken. */
final class Appender {

    private static final Logger log = LoggerFactory.getLogger(Appender.class);
    private static final String TRANSACTION_RESOLUTION_UNKNOWN = "08007";
    private static final String WAIT_FOR_STANDBY = "SyncRepWaitForLSN";

    private static final int PROBE_PARTITIONS = 1 << 20;
    /** Of a topic that is not there. The database says so. */
    private static final Frames.Shape NO_SHAPE = new Frames.Shape(1, 1);

    private final Database database;
    private final Statements statements;
    private final PayloadLimit limit;
    private final ConcurrentHashMap<String, Frames.Shape> shapes = new ConcurrentHashMap<>();

    Appender(Database database) {
        this.database = database;
        this.statements = Statements.beside(Appender.class, "publisher.sql", database.schema());
        this.limit = new PayloadLimit(database.schema());
    }

    /** The receipts of a batch, in its order, and whether it went straight into the log. */
    record Appended(List<Receipt> receipts, boolean direct) {}

    /** @param wait for lanes that are taken, rather than going to the outbox */
    Appended append(List<Submission> batch, boolean wait) throws SQLException {
        String topic = batch.getFirst().messages().getFirst().topic();
        for (Submission submission : batch) {
            if (PayloadLimit.isNear(submission.messages())) {
                database.attempt(connection -> {
                    limit.require(connection, submission.messages());
                    return true;
                });
            }
        }
        Frames.Shape shape = shapes.get(topic);
        while (true) {
            Frames frames = new Frames(batch, shape == null ? refresh(topic) : shape);
            Appended appended = database.attempt(connection -> {
                try (PreparedStatement statement = connection.prepareStatement(statements.get("append"))) {
                    frames.bind(statement, wait);
                    try (ResultSet row = statement.executeQuery()) {
                        requireReplicated(statement.getWarnings());
                        row.next();
                        return appended(topic, frames, row);
                    }
                }
            });
            if (appended != null) {
                return appended;
            }
            shape = null;
        }
    }

    /** The shape of a topic as it is now. What was kept of it may be that of a dropped topic of the same name. */
    private Frames.Shape refresh(String topic) {
        Frames.@Nullable Shape shape = database.read(connection -> {
            try (PreparedStatement statement = connection.prepareStatement(statements.get("shape"))) {
                statement.setString(1, topic);
                try (ResultSet row = statement.executeQuery()) {
                    if (!row.next()) {
                        return null;
                    }
                    if (row.getInt(3) != KeyHash.partitionOf(topic, PROBE_PARTITIONS)) {
                        throw new TrunklineException("the hash of this server is not the one that keys are placed by:"
                                + " PostgreSQL on a little-endian machine with the encoding UTF8 is needed");
                    }
                    return new Frames.Shape(row.getInt(1), row.getInt(2));
                }
            }
        });
        if (shape == null) {
            shapes.remove(topic);
            return NO_SHAPE;
        }
        shapes.put(topic, shape);
        return shape;
    }

    /**
     * The warning of a commit that the wait for a synchronous standby was given up: it may not be on one. It has no code of its own, and its text
     * is in the language of the server; so it is known by the function of the server that says so. Other warnings are about something else.
     */
    private static void requireReplicated(@Nullable SQLWarning first) throws SQLException {
        for (SQLWarning warning = first; warning != null; warning = warning.getNextWarning()) {
            if (warning instanceof PSQLWarning its
                    && WAIT_FOR_STANDBY.equals(its.getServerErrorMessage().getRoutine())) {
                throw new SQLException(warning.getMessage(), TRANSACTION_RESOLUTION_UNKNOWN, warning);
            }
            log.warn("publishing: {}", warning.getMessage());
        }
    }

    private static @Nullable Appended appended(String topic, Frames frames, ResultSet row) throws SQLException {
        Array ids = row.getArray(2);
        if (ids != null) {
            List<Receipt> receipts = new ArrayList<>();
            for (Long id : (Long[]) ids.getArray()) {
                receipts.add(new Receipt(topic, id, OptionalInt.empty(), OptionalLong.empty(), false));
            }
            return new Appended(receipts, false);
        }
        long baseId = row.getLong(3);
        if (row.wasNull()) {
            return null;
        }
        Integer[] chosen = (Integer[]) row.getArray(4).getArray();
        long[] tails = tails(
                (Integer[]) row.getArray(5).getArray(), (Long[]) row.getArray(6).getArray());
        return new Appended(frames.receipts(baseId, chosen, tails, longs(row.getArray(7))), true);
    }

    /** The last offsets before the batch, by strand. */
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
