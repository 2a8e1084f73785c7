package dev.trunkline.benchmarks;

import dev.trunkline.TopicConfiguration;
import dev.trunkline.benchmarks.database.Query;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;

/** Dropping a closed segment: what it writes, and what publishers of the same topic notice of it. */
final class SegmentDrop implements Scenario {

    private static final int MOST_DROPS = 3;
    private static final long WAL_LIMIT = 1_000_000;

    @Override
    public String name() {
        return "segment-drop";
    }

    @Override
    public String summary() {
        return "the WAL of dropping a large segment, and the publishers' p99 around it against the p99 before";
    }

    @Override
    public List<Result> run(Workbench bench) throws Exception {
        try (Installation installation = bench.install("drop", true);
                Connection connection = bench.address().connect()) {
            // The segment must hold them all: it is closed here and not by the upkeep.
            installation.configure(
                    TopicConfiguration.pubSub(Installation.TOPIC).withSegments(Long.MAX_VALUE / 2, Duration.ofDays(1)));
            Topic topic = new Topic(bench, installation, connection);
            return List.of(wal(topic), latency(bench, topic));
        }
    }

    private Result wal(Topic topic) throws Exception {
        long bytes = topic.fillAndClose(name() + "-wal");
        long before = topic.walPosition();
        topic.drop();
        double written = topic.walPosition() - before;
        return Result.of(
                name() + "-wal",
                "bytes of WAL",
                new double[] {written},
                "the bytes of the dropped segment and its index, publishers paused",
                new double[] {bytes},
                new double[] {written / bytes},
                new Target("value < 1 MB", ratio -> ratio * bytes < WAL_LIMIT));
    }

    private Result latency(Workbench bench, Topic topic) throws Exception {
        Effort effort = bench.effort();
        int drops = Math.min(MOST_DROPS, effort.repetitions());
        double[] before = new double[drops];
        double[] around = new double[drops];
        List<Double> worst = new ArrayList<>();
        List<Double> lasted = new ArrayList<>();
        for (int i = 0; i < drops; i++) {
            topic.fillAndClose("%s-p99: %d of %d".formatted(name(), i + 1, drops));
            double window = effort.seconds();
            List<Histogram> windows = new PacedPublishers(
                            topic.installation.publisher(), effort.warmUp(), window, window)
                    .run(effort.warmUp() + window * 4 / 3, () -> lasted.add(topic.dropMillis()));
            before[i] = millis(windows.get(1).getValueAtPercentile(99));
            around[i] = millis(windows.get(2).getValueAtPercentile(99));
            worst.add(millis(windows.get(2).getMaxValue()));
        }
        return Result.of(
                        name() + "-p99",
                        "ms",
                        around,
                        "p99 of the same paced publishers in the window before the drop",
                        before,
                        Numbers.ratios(around, before),
                        Target.atMost(2, "around / before"))
                .with("messagesPerSecond", PacedPublishers.perSecond())
                .with("windowSeconds", effort.seconds())
                .with("dropMillis", Numbers.median(Numbers.array(lasted)))
                .with("maxAroundMillis", Numbers.max(Numbers.array(worst)));
    }

    private static double millis(long micros) {
        return micros / 1e3;
    }

    /** The topic and the one connection that looks after it. */
    private static final class Topic {
        private final Workbench bench;
        private final Installation installation;
        private final Connection connection;
        private final long id;

        Topic(Workbench bench, Installation installation, Connection connection) throws SQLException {
            this.bench = bench;
            this.installation = installation;
            this.connection = connection;
            this.id = Query.number(connection, installation.sql("topicId"), Installation.TOPIC);
        }

        /** Fills the current segment and opens the next one. Returns the bytes of the closed one. */
        long fillAndClose(String progress) throws Exception {
            int rows = bench.effort().amounts().segmentRows();
            bench.progress(progress + ", filling a segment with " + rows + " messages");
            installation.publish(rows);
            String segment = segments().getLast();
            Query.number(connection, installation.sql("rollSegment"), (int) id);
            bench.settle();
            bench.progress(progress + ", dropping it");
            return Query.number(connection, installation.sql("segmentBytes", segment));
        }

        /** Drops all but the current segment. */
        void drop() throws SQLException {
            int segments = segments().size();
            Query.number(connection, installation.sql("dropSegment"), (int) id, (int) id);
            if (segments().size() != segments - 1) {
                throw new IllegalStateException(
                        "the segment was not dropped: there were %d, there are %s".formatted(segments, segments()));
            }
        }

        double dropMillis() {
            long began = System.nanoTime();
            try {
                drop();
            } catch (SQLException e) {
                throw new IllegalStateException("the segment could not be dropped: " + e.getMessage(), e);
            }
            return (System.nanoTime() - began) / 1e6;
        }

        long walPosition() throws SQLException {
            return Query.number(connection, installation.sql("walPosition"));
        }

        private List<String> segments() throws SQLException {
            return Query.texts(connection, installation.sql("segments"), Installation.TOPIC);
        }
    }
}
