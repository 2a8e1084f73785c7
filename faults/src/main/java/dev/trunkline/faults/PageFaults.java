package dev.trunkline.faults;

import dev.trunkline.embedded.Shutdown;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** What is done to the pages of the log. */
final class PageFaults {

    private static final int PAGE = 8192;
    private static final String DATA_CORRUPTED = "XX001";

    private static final String FAILURES =
            "select coalesce(checksum_failures, 0) from pg_stat_database where datname = current_database()";

    private PageFaults() {}

    static List<Fault> all() {
        return List.of(new Fault("F31", "flip a byte in a page of a segment", PageFaults::flip));
    }

    /**
     * A byte of a page that a group has still to read.
     *
     * @param offset of the last message of a frame in that page
     */
    private record Spot(String topic, String table, int partition, long offset, Path file, long position) {

        void flip() throws IOException {
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                ByteBuffer one = ByteBuffer.allocate(1);
                channel.read(one, position);
                one.put(0, (byte) ~one.get(0)).flip();
                channel.write(one, position);
            }
        }

        String otherTopic() {
            return Workload.TOPICS.stream()
                    .filter(each -> !each.equals(topic))
                    .findFirst()
                    .orElseThrow();
        }
    }

    /** Nobody consumes for a while, so that there is something to read. */
    private static void flip(Trial trial) throws Exception {
        trial.awaitMore(100);
        for (Crowd.Member consumer : trial.crowd().consumers()) {
            consumer.stop();
        }
        Spot spot = find(trial, trial.oneOf(Workload.TOPICS));
        trial.harm(() -> flipWhileStopped(trial, spot));
        try {
            consumeBeside(trial, spot);
        } finally {
            trial.harm(() -> flipWhileStopped(trial, spot));
        }
        trial.awaitMore(100);
    }

    private static void consumeBeside(Trial trial, Spot spot) throws SQLException {
        long failures = trial.standing().number(FAILURES);
        long othersBefore = done(trial, spot.otherTopic());
        for (Crowd.Member consumer : trial.crowd().consumers()) {
            consumer.startAgain();
        }
        Standing.await("somebody comes to the page", () -> trial.standing().number(FAILURES) > failures);
        Standing.await("the other topic goes on", () -> done(trial, spot.otherTopic()) > othersBefore + 500);
        requireError(trial, spot);
        requireWaiting(trial, spot);
    }

    private static void flipWhileStopped(Trial trial, Spot spot) throws IOException {
        trial.server().stop(Shutdown.FAST);
        spot.flip();
        trial.server().start();
    }

    private static Spot find(Trial trial, String topic) {
        AtomicReference<@Nullable Spot> found = new AtomicReference<>();
        Standing.await("there is much to read", () -> {
            found.set(look(trial, topic));
            return found.get() != null;
        });
        return Objects.requireNonNull(found.get());
    }

    /** A frame among what the group has not done, in a page that is full. */
    private static @Nullable Spot look(Trial trial, String topic) throws SQLException {
        String table = "trunkline.segment_"
                + trial.standing()
                        .number(
                                "select max(s.id) from trunkline.segment s join trunkline.topic t on t.id = s.topic where t.name = ?",
                                topic);
        try (Connection connection = trial.connect();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("""
                        with frame as (select (s.ctid::text::point)[0]::int as page, s.partition, s.last_offset from %1$s s)
                        select f.page, f.partition, f.last_offset, pg_relation_filepath('%1$s')
                        from frame f join trunkline.lag('plain', '%2$s') l using (partition)
                        where f.last_offset >= l.cursor and f.page < (select max(e.page) - 3 from frame e)
                        order by f.page, f.last_offset offset 3 limit 1""".formatted(table, topic))) {
            if (!row.next()) {
                return null;
            }
            Path file = trial.server().dataDirectory().resolve("cluster").resolve(row.getString(4));
            long position = (long) row.getInt(1) * PAGE + trial.random().nextInt(PAGE);
            return new Spot(topic, table, row.getInt(2), row.getLong(3), file, position);
        }
    }

    private static long done(Trial trial, String topic) throws SQLException {
        return trial.standing().number("select sum(cursor)::bigint from trunkline.lag('plain', ?)", topic);
    }

    private static void requireError(Trial trial, Spot spot) throws SQLException {
        try (Connection connection = trial.connect();
                Statement statement = connection.createStatement()) {
            statement.executeQuery("select sum(length(payloads)) from " + spot.table());
            throw new IllegalStateException(spot + " can be read");
        } catch (SQLException e) {
            if (!DATA_CORRUPTED.equals(e.getSQLState())) {
                throw e;
            }
        }
    }

    /** How far it is can be told, also while the page that it has come to can not be read. */
    private static void requireWaiting(Trial trial, Spot spot) throws SQLException {
        long cursor = trial.standing()
                .number(
                        "select cursor from trunkline.lag('plain', ?) where partition = ?",
                        spot.topic(),
                        spot.partition());
        if (cursor > spot.offset()) {
            throw new IllegalStateException("the group has gone past " + spot + " to " + cursor);
        }
    }
}
