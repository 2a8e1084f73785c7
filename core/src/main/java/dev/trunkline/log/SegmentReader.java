package dev.trunkline.log;

import dev.trunkline.LogMessage;
import dev.trunkline.OffsetOutOfRangeException;
import dev.trunkline.TrunklineException;
import dev.trunkline.UnknownTopicException;
import dev.trunkline.database.Database;
import dev.trunkline.database.Failure;
import dev.trunkline.database.Statements;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Reads strands out of segments, and keeps what it knows of them until it proves out of date. */
final class SegmentReader {

    private static final String UNDEFINED_TABLE = "42P01";

    private final Database database;
    private final Statements statements;
    private final ConcurrentHashMap<String, TopicLog> known = new ConcurrentHashMap<>();

    SegmentReader(Database database) {
        this.database = database;
        this.statements = Statements.beside(SegmentReader.class, "log.sql", database.schema());
    }

    /** @throws UnknownTopicException if there is no such topic */
    TopicLog topic(String name) {
        TopicLog topic = known.get(name);
        return topic == null ? refresh(name) : topic;
    }

    TopicLog refresh(String name) {
        TopicLog topic = name.indexOf('\0') >= 0 ? null : database.read(connection -> find(connection, name));
        if (topic == null) {
            known.remove(name);
            throw new UnknownTopicException("there is no topic \"" + name + "\": create it first");
        }
        known.put(name, topic);
        return topic;
    }

    private @Nullable TopicLog find(Connection connection, String name) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(statements.get("topic"))) {
            statement.setString(1, name);
            try (ResultSet row = statement.executeQuery()) {
                return row.next()
                        ? new TopicLog(
                                name, row.getInt(1), row.getInt(2), row.getInt(3), segments(connection, row.getInt(1)))
                        : null;
            }
        }
    }

    private List<TopicLog.Segment> segments(Connection connection, int topic) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(statements.get("segments"))) {
            statement.setInt(1, topic);
            try (ResultSet row = statement.executeQuery()) {
                List<TopicLog.Segment> segments = new ArrayList<>();
                while (row.next()) {
                    segments.add(new TopicLog.Segment(
                            row.getInt(1), List.of((Long[]) row.getArray(2).getArray())));
                }
                return segments;
            }
        }
    }

    /**
     * Messages of some strands from their positions on, at most so many of each, and moves the positions past them.
     * Nothing means that there was nothing when the call was made.
     *
     * @throws OffsetOutOfRangeException if a position was dropped by retention
     */
    List<LogMessage> read(String name, int[] strands, long[] positions, int most) {
        List<LogMessage> messages = readKnown(topic(name), strands, positions, most);
        if (messages.isEmpty()) {
            messages = readKnown(refresh(name), strands, positions, most);
        }
        return messages;
    }

    private List<LogMessage> readKnown(TopicLog topic, int[] strands, long[] positions, int most) {
        Map<Integer, List<Integer>> bySegment = new LinkedHashMap<>();
        for (int i = 0; i < strands.length; i++) {
            TopicLog.Segment segment = topic.holding(strands[i], positions[i]);
            if (segment == null) {
                TopicLog now = refresh(topic.name());
                if (now.segments().equals(topic.segments()) || now.holding(strands[i], positions[i]) == null) {
                    throw outOfRange(now, strands[i], positions[i]);
                }
                return List.of();
            }
            bySegment.computeIfAbsent(segment.id(), id -> new ArrayList<>()).add(i);
        }
        // Positions move only when all is read: an error in a later segment must not lose what came before it.
        long[] reached = positions.clone();
        List<LogMessage> messages = new ArrayList<>();
        bySegment.forEach(
                (segment, places) -> messages.addAll(readSegment(topic, segment, places, strands, reached, most)));
        System.arraycopy(reached, 0, positions, 0, reached.length);
        return messages;
    }

    private List<LogMessage> readSegment(
            TopicLog topic, int segment, List<Integer> places, int[] strands, long[] positions, int most) {
        Integer[] wanted = new Integer[places.size()];
        Long[] from = new Long[places.size()];
        for (int i = 0; i < wanted.length; i++) {
            wanted[i] = strands[places.get(i)];
            from[i] = positions[places.get(i)];
        }
        List<LogMessage> messages;
        try {
            messages = database.attempt(connection -> {
                try (PreparedStatement statement = connection.prepareStatement(statements.get("read", segment))) {
                    statement.setArray(1, connection.createArrayOf("int4", wanted));
                    statement.setArray(2, connection.createArrayOf("int8", from));
                    statement.setInt(3, most);
                    statement.setInt(4, most);
                    try (ResultSet row = statement.executeQuery()) {
                        List<LogMessage> read = new ArrayList<>();
                        while (row.next()) {
                            long begin = from[row.getInt(14) - 1];
                            FrameReader.addMessages(topic, row, begin, begin + most, read);
                        }
                        return read;
                    }
                }
            });
        } catch (SQLException e) {
            if (UNDEFINED_TABLE.equals(e.getSQLState())) {
                return List.of(); // the segment has just been dropped: the catalogue will tell
            }
            throw Failure.explainRead(e);
        }
        advance(topic, messages, places, strands, positions);
        return messages;
    }

    /** A hole would be a lost message: it is an error, never skipped. */
    private static void advance(
            TopicLog topic, List<LogMessage> messages, List<Integer> places, int[] strands, long[] positions) {
        int at = 0;
        for (LogMessage message : messages) {
            int strand = topic.strand(message.partition(), message.priority());
            while (strands[places.get(at)] != strand) {
                at++;
            }
            int place = places.get(at);
            if (message.offset() != positions[place]) {
                throw new TrunklineException("offset " + positions[place] + " of partition " + message.partition()
                        + " of topic \"" + topic.name() + "\" is missing from the log, which goes on at "
                        + message.offset() + ": the database has lost data");
            }
            positions[place]++;
        }
    }

    OffsetOutOfRangeException outOfRange(TopicLog topic, int strand, long offset) {
        Bounds bounds = bounds(topic);
        return new OffsetOutOfRangeException(
                topic.name(), topic.partition(strand), offset, bounds.firsts()[strand], bounds.ends()[strand]);
    }

    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Bounds(Long[] firsts, Long[] ends) {}

    Bounds bounds(TopicLog topic) {
        return database.read(connection -> {
            try (PreparedStatement statement = connection.prepareStatement(statements.get("bounds"))) {
                statement.setInt(1, topic.id());
                try (ResultSet row = statement.executeQuery()) {
                    row.next();
                    if (row.getArray(1) == null) {
                        throw new UnknownTopicException(
                                "there is no topic \"" + topic.name() + "\" any more: it was dropped");
                    }
                    return new Bounds((Long[]) row.getArray(1).getArray(), (Long[])
                            row.getArray(2).getArray());
                }
            }
        });
    }

    long offsetAt(TopicLog topic, int strand, OffsetDateTime time) {
        return database.read(connection -> {
            try (PreparedStatement statement = connection.prepareStatement(statements.get("offsetAt"))) {
                statement.setInt(1, topic.id());
                statement.setInt(2, strand);
                statement.setObject(3, time);
                try (ResultSet row = statement.executeQuery()) {
                    row.next();
                    return row.getLong(1);
                }
            }
        });
    }
}
