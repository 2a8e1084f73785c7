package dev.trunkline.log;

import dev.trunkline.LogMessage;
import dev.trunkline.OffsetOutOfRangeException;
import dev.trunkline.TrunklineException;
import dev.trunkline.UnknownTopicException;
import dev.trunkline.database.Database;
import dev.trunkline.database.Failure;
import dev.trunkline.database.Statements;
import dev.trunkline.database.Texts;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
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

    /** All that it knows. */
    void forget() {
        known.clear();
    }

    /** @throws UnknownTopicException if there is no such topic */
    TopicLog topic(String name) {
        TopicLog topic = known.get(name);
        return topic == null ? refresh(name) : topic;
    }

    TopicLog refresh(String name) {
        TopicLog topic = Texts.flaw(name) != null ? null : database.read(connection -> find(connection, name));
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
     * What was read of a strand, and whether that was all there was.
     *
     * @param timeline of the server that it was read from; null: nothing was
     */
    record Stretch(
            List<LogMessage> messages,
            boolean ended,
            @Nullable String timeline) {

        static final Stretch UNKNOWN = new Stretch(List.of(), false, null);
    }

    /** What was read of some strands, in their order. */
    record Found(TopicLog topic, List<Stretch> stretches) {

        /** The places of strands of which nothing came from a segment that is not the newest: they may go on in one that is not known yet. */
        int[] unsure() {
            return IntStream.range(0, stretches.size())
                    .filter(place -> !stretches.get(place).ended()
                            && stretches.get(place).messages().isEmpty())
                    .toArray();
        }

        List<LogMessage> messages() {
            return stretches.stream()
                    .flatMap(stretch -> stretch.messages().stream())
                    .toList();
        }

        /** Null: nothing was read. */
        @Nullable
        String timeline() {
            return stretches.stream()
                    .map(Stretch::timeline)
                    .filter(Objects::nonNull)
                    .findFirst()
                    .orElse(null);
        }
    }

    /**
     * Messages of some strands from their positions on, at most so many of each, and moves the positions past them.
     * Nothing means that there was nothing when the call was made.
     *
     * @throws OffsetOutOfRangeException if a position was dropped by retention
     */
    Found read(String name, int[] strands, long[] positions, int most) {
        return again(readKnown(topic(name), strands, positions, most), () -> refresh(name), strands, positions, most);
    }

    /**
     * The same, of this topic, not of one that has its name by now.
     *
     * @throws UnknownTopicException if it was dropped
     */
    Found read(TopicLog begun, int[] strands, long[] positions, int most) {
        return again(
                readKnown(same(begun, topic(begun.name())), strands, positions, most),
                () -> same(begun, refresh(begun.name())),
                strands,
                positions,
                most);
    }

    /** Looks at the catalogue again for the strands that it is not sure of, whatever it found of others: these may have much to come. */
    private Found again(Found found, Supplier<TopicLog> refreshed, int[] strands, long[] positions, int most) {
        int[] unsure = found.unsure();
        if (unsure.length == 0) {
            return found;
        }
        long[] from = IntStream.of(unsure).mapToLong(place -> positions[place]).toArray();
        Found more = readKnown(
                refreshed.get(),
                IntStream.of(unsure).map(place -> strands[place]).toArray(),
                from,
                most);
        List<Stretch> stretches = new ArrayList<>(found.stretches());
        for (int i = 0; i < unsure.length; i++) {
            stretches.set(unsure[i], more.stretches().get(i));
            positions[unsure[i]] = from[i];
        }
        return new Found(more.topic(), stretches);
    }

    private static TopicLog same(TopicLog begun, TopicLog now) {
        if (begun.id() != now.id()) {
            throw new UnknownTopicException("there is no topic \"" + begun.name()
                    + "\" any more: it was dropped, and another one has its name");
        }
        return now;
    }

    private Found readKnown(TopicLog topic, int[] strands, long[] positions, int most) {
        List<Stretch> stretches = new ArrayList<>(Collections.nCopies(strands.length, Stretch.UNKNOWN));
        Map<Integer, List<Integer>> bySegment = new LinkedHashMap<>();
        for (int i = 0; i < strands.length; i++) {
            TopicLog.Segment segment = topic.holding(strands[i], positions[i]);
            if (segment == null) {
                TopicLog now = refresh(topic.name());
                if (now.id() == topic.id()
                        && (now.segments().equals(topic.segments()) || now.holding(strands[i], positions[i]) == null)) {
                    throw outOfRange(now, strands[i], positions[i]);
                }
                return new Found(topic, stretches);
            }
            bySegment.computeIfAbsent(segment.id(), id -> new ArrayList<>()).add(i);
        }
        bySegment.forEach((segment, places) -> {
            Integer[] wanted = places.stream().map(place -> strands[place]).toArray(Integer[]::new);
            Long[] from = places.stream().map(place -> positions[place]).toArray(Long[]::new);
            List<Stretch> read = readSegment(topic, segment, wanted, from, most);
            for (int i = 0; i < read.size(); i++) {
                stretches.set(places.get(i), read.get(i));
            }
        });
        // Positions move only when all is read: an error in a later segment must not lose what came before it.
        for (int i = 0; i < positions.length; i++) {
            positions[i] += stretches.get(i).messages().size();
        }
        return new Found(topic, stretches);
    }

    private List<Stretch> readSegment(TopicLog topic, int segment, Integer[] strands, Long[] from, int most) {
        try {
            return database.attempt(connection -> {
                try (PreparedStatement statement = connection.prepareStatement(statements.get("read", segment))) {
                    statement.setInt(1, topic.id());
                    statement.setArray(2, connection.createArrayOf("int4", strands));
                    statement.setArray(3, connection.createArrayOf("int8", from));
                    for (int place = 4; place <= 6; place++) {
                        statement.setInt(place, most);
                    }
                    try (ResultSet row = statement.executeQuery()) {
                        return stretches(topic, segment, row, from, most);
                    }
                }
            });
        } catch (SQLException e) {
            if (UNDEFINED_TABLE.equals(e.getSQLState())) {
                return List.of(); // the segment has just been dropped: the catalogue will tell
            }
            throw Failure.explainRead(e);
        }
    }

    private static List<Stretch> stretches(TopicLog topic, int segment, ResultSet row, Long[] from, int most)
            throws SQLException {
        List<List<LogMessage>> read =
                Stream.of(from).<List<LogMessage>>map(n -> new ArrayList<>()).toList();
        boolean newest = false;
        String timeline = null;
        while (row.next()) {
            int place = row.getInt(15) - 1;
            newest = row.getInt(16) == segment;
            timeline = row.getString(17);
            if (row.getObject(2) != null) {
                addFrame(topic, row, from[place], most, read.get(place));
            }
        }
        List<Stretch> stretches = new ArrayList<>();
        for (List<LogMessage> messages : read) {
            stretches.add(new Stretch(messages, newest && messages.size() < most, timeline));
        }
        return stretches;
    }

    /** A hole would be a lost message: it is an error, never skipped. */
    private static void addFrame(TopicLog topic, ResultSet row, long from, int most, List<LogMessage> messages)
            throws SQLException {
        int before = messages.size();
        int strand = row.getInt(1);
        FrameReader.addMessages(
                topic.name(), topic.partition(strand), topic.priority(strand), row, from, from + most, messages);
        LogMessage next = messages.get(before);
        if (next.offset() != from + before) {
            throw new TrunklineException("offset " + (from + before) + " of partition " + next.partition()
                    + " of topic \"" + topic.name() + "\" is missing from the log, which goes on at " + next.offset()
                    + ": the database has lost data");
        }
    }

    OffsetOutOfRangeException outOfRange(TopicLog topic, int strand, long offset) {
        Bounds bounds = bounds(topic);
        return new OffsetOutOfRangeException(
                topic.name(), topic.partition(strand), offset, bounds.firsts()[strand], bounds.ends()[strand]);
    }

    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Bounds(Long[] firsts, Long[] ends, String timeline) {}

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
                    return new Bounds(
                            (Long[]) row.getArray(1).getArray(),
                            (Long[]) row.getArray(2).getArray(),
                            row.getString(3));
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
