package dev.trunkline.pull;

import dev.trunkline.LogMessage;
import dev.trunkline.Priority;
import dev.trunkline.PullOptions;
import dev.trunkline.TopicPattern;
import dev.trunkline.database.Database;
import dev.trunkline.database.Failure;
import dev.trunkline.database.Places;
import dev.trunkline.database.Statements;
import dev.trunkline.database.Texts;
import dev.trunkline.log.FrameReader;
import java.nio.charset.StandardCharsets;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The calls of the functions of {@code 012_pull.sql}. */
public final class PullTable {

    private static final long MOST_SECONDS = Duration.ofDays(1_000).toSeconds();

    private final Database database;
    private final Statements statements;

    public PullTable(Database database) {
        this.database = database;
        this.statements = Statements.beside(PullTable.class, "pull.sql", database.schema());
    }

    /**
     * Whose tokens are taken.
     *
     * @param topic null: of whatever topic
     */
    record Owner(String group, @Nullable String topic) {}

    /** What was popped together. */
    record Popped(String token, long epoch, Instant expiresAt, List<Message> messages) {}

    /** A message, and how often it was tried. */
    record Message(LogMessage message, int attempt) {}

    int subscribe(String group, String topic, PullOptions options) {
        return database.call(connection -> query(
                connection,
                "subscribe",
                row -> row.getInt(1),
                group,
                topic,
                Places.mode(options.start()),
                options.attempts(),
                options.stopKey(),
                Places.time(options.start()),
                Places.lookBack(options.start()),
                options.start().number(),
                options.keys().isEmpty()
                        ? null
                        : connection.createArrayOf(
                                "text", Texts.require(options.keys().toArray(String[]::new)))));
    }

    /** Subscribes a group to topics by a pattern, and returns the number of that. */
    int subscribe(String group, TopicPattern pattern, PullOptions options) {
        return database.call(connection -> query(
                connection,
                "subscribeWildcard",
                row -> row.getInt(1),
                group,
                pattern.namespace(),
                pattern.task(),
                pattern.name(),
                Places.mode(options.start()),
                Places.time(options.start()),
                Places.lookBack(options.start()),
                options.attempts(),
                options.stopKey()));
    }

    /** The topics that a group has by a wildcard. */
    List<String> topics(int wildcard) {
        return database.read(connection -> query(
                connection,
                "topicsOf",
                row -> List.of((String[]) row.getArray(1).getArray()),
                wildcard));
    }

    Optional<Popped> pop(String group, String topic, int max, Duration lease) {
        return database.call(connection -> {
            try (PreparedStatement statement = connection.prepareStatement(statements.get("pop"))) {
                statement.setString(1, group);
                statement.setString(2, topic);
                statement.setInt(3, max);
                statement.setLong(4, micros(lease));
                try (ResultSet row = statement.executeQuery()) {
                    return popped(topic, row);
                }
            }
        });
    }

    private static Optional<Popped> popped(String topic, ResultSet row) throws SQLException {
        if (!row.next()) {
            return Optional.empty();
        }
        String token = row.getString(15);
        long epoch = row.getLong(16);
        Instant expiresAt = row.getObject(17, OffsetDateTime.class).toInstant();
        List<Message> messages = new ArrayList<>();
        do {
            addFrame(topic, row, messages);
        } while (row.next());
        return Optional.of(new Popped(token, epoch, expiresAt, messages));
    }

    private static void addFrame(String topic, ResultSet row, List<Message> messages) throws SQLException {
        List<LogMessage> frame = new ArrayList<>();
        FrameReader.addMessages(topic, row.getInt(18), Priority.of(row.getInt(19)), row, 0, Long.MAX_VALUE, frame);
        int attempt = row.getInt(20);
        Array some = row.getArray(21);
        Set<Long> given = some == null ? Set.of() : Set.of((Long[]) some.getArray());
        for (LogMessage message : frame) {
            if (some == null || given.contains(message.offset())) {
                messages.add(new Message(message, attempt));
            }
        }
    }

    List<Long> ack(Owner owner, String token, @Nullable Collection<Long> offsets) {
        return database.call(
                connection -> rest(connection, "ack", token, array(connection, offsets), owner.group, owner.topic));
    }

    /** As {@link #ack(Owner, String, Collection)}, in a transaction that is not ours. */
    List<Long> ack(Connection connection, Owner owner, String token, @Nullable Collection<Long> offsets)
            throws SQLException {
        try {
            return rest(connection, "ack", token, array(connection, offsets), owner.group, owner.topic);
        } catch (SQLException e) {
            if (e.getSQLState() != null && e.getSQLState().startsWith("TL")) {
                throw Failure.explain(e);
            }
            throw e;
        }
    }

    List<Long> nack(Owner owner, String token, @Nullable Collection<Long> offsets, Duration delay, String error) {
        return database.call(connection -> rest(
                connection,
                "nack",
                token,
                array(connection, offsets),
                micros(delay),
                printable(error),
                owner.group,
                owner.topic));
    }

    List<Long> release(Owner owner, String token, @Nullable Collection<Long> offsets) {
        return database.call(
                connection -> rest(connection, "release", token, array(connection, offsets), owner.group, owner.topic));
    }

    List<Long> reject(Owner owner, String token, Collection<Long> offsets, String error) {
        return database.call(connection -> rest(
                connection, "reject", token, array(connection, offsets), printable(error), owner.group, owner.topic));
    }

    Instant extend(Owner owner, String token, Duration lease) {
        return database.call(connection -> query(
                connection,
                "extend",
                row -> row.getObject(1, OffsetDateTime.class).toInstant(),
                token,
                micros(lease),
                owner.group,
                owner.topic));
    }

    private interface Reading<R> {
        R of(ResultSet row) throws SQLException;
    }

    private List<Long> rest(Connection connection, String name, @Nullable Object... parameters) throws SQLException {
        return query(connection, name, row -> List.of((Long[]) row.getArray(1).getArray()), parameters);
    }

    private <R> R query(Connection connection, String name, Reading<R> reading, @Nullable Object... parameters)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(statements.get(name))) {
            for (int i = 0; i < parameters.length; i++) {
                switch (parameters[i]) {
                    case null -> statement.setNull(i + 1, Types.NULL);
                    case String text -> statement.setString(i + 1, Texts.require(text));
                    default -> statement.setObject(i + 1, parameters[i]);
                }
            }
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return reading.of(row);
            }
        }
    }

    private static @Nullable Array array(Connection connection, @Nullable Collection<Long> offsets)
            throws SQLException {
        return offsets == null ? null : connection.createArrayOf("int8", offsets.toArray());
    }

    /** What is out of bounds stays so. */
    private static long micros(Duration duration) {
        long seconds = Math.clamp(duration.getSeconds(), -MOST_SECONDS, MOST_SECONDS);
        return seconds * 1_000_000 + duration.getNano() / 1_000;
    }

    /** PostgreSQL stores no NUL, and there may be half a character. */
    private static String printable(String text) {
        return new String(text.replace('\0', ' ').getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
    }
}
