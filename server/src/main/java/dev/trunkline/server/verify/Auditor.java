package dev.trunkline.server.verify;

import dev.trunkline.IncompatibleDatabaseException;
import dev.trunkline.Trunkline;
import dev.trunkline.UnknownTopicException;
import dev.trunkline.server.Address;
import dev.trunkline.server.Sql;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Looks at topics, one after the other. What it remembers grows with a topic's partitions, not with its log. */
final class Auditor {

    private static final String UNDEFINED_TABLE = "42P01";
    /** How often a topic is looked at whose current segment is dropped while that is done. */
    private static final int TRIES = 5;

    private final Connection connection;
    private final Address address;
    private final Consumer<Finding> report;
    private final Consumer<String> progress;
    private long topics;
    private long segments;
    private long messages;
    private long findings;

    /** @param connection in autocommit, and its own */
    Auditor(Connection connection, Address address, Consumer<Finding> report, Consumer<String> progress) {
        this.connection = connection;
        this.address = address;
        this.report = report;
        this.progress = progress;
    }

    /** What was looked at, and how many findings there were. */
    record Tally(long topics, long segments, long messages, long findings) {
        @Override
        public String toString() {
            return "%s: %d topics, %d segments, %d messages"
                    .formatted(findings == 0 ? "nothing wrong" : findings + " findings", topics, segments, messages);
        }
    }

    /** @param names of topics; none: all */
    Tally run(List<String> names) throws SQLException {
        requireSchema();
        List<Topic> all = topics();
        for (String name : names) {
            if (all.stream().noneMatch(topic -> topic.name().equals(name))) {
                throw new UnknownTopicException(
                        "there is no topic \"" + name + "\": see the list, trunkline topics list");
            }
        }
        if (names.isEmpty()) {
            look("installation", null, row -> find(null, null, null, null, row.getString(1)));
        }
        for (Topic topic : all) {
            if (names.isEmpty() || names.contains(topic.name())) {
                topics++;
                lookAt(topic);
                readLog(topic);
            }
        }
        return new Tally(topics, segments, messages, findings);
    }

    private void requireSchema() throws SQLException {
        int version = address.version(connection);
        if (version != Trunkline.schemaVersion()) {
            throw new IncompatibleDatabaseException("schema " + address.schema() + " is at version " + version
                    + ", verify needs " + Trunkline.schemaVersion()
                    + (version < Trunkline.schemaVersion() ? ": run trunkline migrate" : ": use a newer trunkline"));
        }
    }

    /** A topic; a strand is a partition at one priority level. */
    record Topic(int id, String name, int partitions, int levels) {

        private static final List<Integer> PRIORITIES = List.of(0, 1, -1);

        int strands() {
            return partitions * levels;
        }

        @Nullable
        Integer partition(@Nullable Integer strand) {
            return strand == null || isNone(strand) ? null : Integer.valueOf(strand % partitions);
        }

        @Nullable
        Integer priority(@Nullable Integer strand) {
            return strand == null || isNone(strand) ? null : PRIORITIES.get(strand / partitions);
        }

        /** Whether there is no strand of this number. */
        boolean isNone(int strand) {
            return strand < 0 || strand >= strands();
        }
    }

    private List<Topic> topics() throws SQLException {
        List<Topic> found = new ArrayList<>();
        each("topics", row -> found.add(new Topic(row.getInt(1), row.getString(2), row.getInt(3), row.getInt(4))));
        return found;
    }

    /** All but its frames. */
    private void lookAt(Topic topic) throws SQLException {
        progress.accept("topic " + topic.name());
        lookAt(topic, "topic");
        lookAt(topic, "relayed");
    }

    private void lookAt(Topic topic, String name) throws SQLException {
        for (int tries = 1; ; tries++) {
            try {
                look(
                        name,
                        topic,
                        row -> find(
                                topic,
                                row.getObject(1, Integer.class),
                                row.getObject(2, Long.class),
                                row.getObject(3, Long.class),
                                row.getString(4)));
                return;
            } catch (SQLException e) {
                if (!isDamage(e)) {
                    throw e;
                }
                if (!ask("exists", topic.id())) {
                    return;
                }
                if (!UNDEFINED_TABLE.equals(e.getSQLState()) || tries == TRIES) {
                    find(topic, null, null, null, "it can not be looked at: " + message(e));
                    return;
                }
            }
        }
    }

    /** In one snapshot, which begins when the slots can no longer be emptied. What the transaction is to be ends with it: a pooler may be in between. */
    private void look(String name, @Nullable Topic topic, Row each) throws SQLException {
        connection.setAutoCommit(false);
        try {
            execute("oneSnapshot");
            execute("lockSlots");
            if (topic == null) {
                each(name, each);
            } else {
                each(name, each, topic.id());
            }
        } finally {
            connection.rollback();
            connection.setAutoCommit(true);
        }
    }

    private void readLog(Topic topic) throws SQLException {
        List<Segment> found = new ArrayList<>();
        each("segments", row -> found.add(Segment.of(row)), topic.id());
        for (int i = 0; i < found.size(); i++) {
            Segment next = i + 1 < found.size() ? found.get(i + 1) : null;
            if (found.get(i).fits(topic) && (next == null || next.fits(topic))) {
                new SegmentAudit(this, topic, found.get(i), next).run();
                segments++;
            }
        }
    }

    // What the audit of a segment needs.

    /** The frames behind a place, in order. */
    List<Frame> frames(Segment segment, int strand, long offset, int most, int lastStrand) throws SQLException {
        List<Frame> frames = new ArrayList<>();
        each("frames", row -> frames.add(Frame.of(row)), segment.id(), strand, offset, most, lastStrand);
        frames.forEach(frame -> messages += frame.last() - frame.first() + 1);
        return frames;
    }

    /** Finds messages of a segment that have the same id. */
    void findRepeated(Topic topic, Segment segment) throws SQLException {
        each(
                "ids",
                row -> find(
                        topic,
                        row.getInt(1),
                        row.getLong(2),
                        row.getLong(3),
                        "the same id more than once in segment " + segment.id() + ": message " + row.getLong(4)),
                segment.id());
    }

    boolean isGone(Segment segment) throws SQLException {
        return !ask("segmentExists", segment.id());
    }

    void find(
            @Nullable Topic topic,
            @Nullable Integer strand,
            @Nullable Long from,
            @Nullable Long to,
            @Nullable String problem) {
        findings++;
        report.accept(new Finding(
                topic == null ? null : topic.name(),
                topic == null ? null : topic.partition(strand),
                topic == null ? null : topic.priority(strand),
                from,
                to,
                problem == null ? "" : problem));
    }

    void progress(Topic topic, Segment segment) {
        progress.accept("topic " + topic.name() + ", segment " + segment.id() + ", " + messages + " messages in all");
    }

    static boolean isMissing(SQLException e) {
        return UNDEFINED_TABLE.equals(e.getSQLState());
    }

    /** Whether an error says that what is stored can not be read, and not that the server is away or refuses. */
    static boolean isDamage(SQLException e) {
        String state = e.getSQLState() == null ? "" : e.getSQLState();
        return isMissing(e) || state.startsWith("XX") || state.startsWith("58") || state.startsWith("22");
    }

    static String message(SQLException e) {
        String text = e.getMessage() == null ? e.toString() : e.getMessage();
        return text.lines().findFirst().orElse(text);
    }

    // Statements.

    /** What to do with a row. */
    @FunctionalInterface
    private interface Row {
        void of(ResultSet row) throws SQLException;
    }

    private void execute(String name) throws SQLException {
        try (PreparedStatement statement = prepare(name)) {
            statement.execute();
        }
    }

    private void each(String name, Row each, Object... parameters) throws SQLException {
        try (PreparedStatement statement = prepare(name)) {
            for (int i = 0; i < parameters.length; i++) {
                statement.setObject(i + 1, parameters[i]);
            }
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    each.of(row);
                }
            }
        }
    }

    private boolean ask(String name, int number) throws SQLException {
        boolean[] answer = new boolean[1];
        each(name, row -> answer[0] = row.getBoolean(1), number);
        return answer[0];
    }

    private PreparedStatement prepare(String name) throws SQLException {
        return connection.prepareStatement(Sql.of(Auditor.class, "verify.sql", name, address.schema()));
    }
}
