package dev.trunkline.benchmarks;

import dev.trunkline.ConsumerGroup;
import dev.trunkline.Log;
import dev.trunkline.LogMessage;
import dev.trunkline.SubscriptionOptions;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** A new group works off a backlog, against a bare fetch of the same messages and against a textbook queue. */
final class ConsumeDrain implements Scenario {

    private static final int MOST_REPETITIONS = 3;
    private static final int BATCH = 1_000;
    private static final int QUEUE_SHARE = 20;
    private static final int QUEUE_THREADS = 2;
    private static final int QUEUE_BATCH = 100;
    private static final int PATIENCE_MINUTES = 10;
    private static final String FETCH = "fetch";
    private static final String GROUP = "group";
    private static final String QUEUE = "queue";

    @Override
    public String name() {
        return "drain";
    }

    @Override
    public String summary() {
        return "a new group over a backlog, against a raw fetch of the same messages; and against a textbook queue";
    }

    @Override
    public List<Result> run(Workbench bench) throws Exception {
        int messages = bench.effort().consumeMessages();
        try (Installation installation = bench.install("drain", true);
                Connection fetching = bench.address().connectBinary();
                Crew takers = takers(bench, installation)) {
            bench.progress("%s: publishing and copying %d messages".formatted(name(), messages));
            publish(installation, messages);
            copy(bench, installation);
            fetching.setAutoCommit(false);
            Group group = new Group(installation, messages);
            Queue queue = new Queue(bench, installation, takers, messages / QUEUE_SHARE);
            Contest.Turns turns = new Contest(bench.atMost(MOST_REPETITIONS), name())
                    .with(FETCH, seconds -> fetch(fetching, installation, messages))
                    .with(GROUP, seconds -> group.drain())
                    .with(QUEUE, seconds -> queue.drain())
                    .run();
            return List.of(
                    turns.compare(
                                    name(),
                                    "messages/s",
                                    GROUP,
                                    FETCH,
                                    "select … order by primary key of the same messages, a row each, 1,000 at a time, binary",
                                    Target.atLeast(0.40))
                            .with("messages", messages),
                    turns.compare(
                                    name() + "-textbook",
                                    "messages/s",
                                    GROUP,
                                    QUEUE,
                                    "update … for update skip locked … returning, %d rows a commit, %d connections"
                                            .formatted(QUEUE_BATCH, QUEUE_THREADS),
                                    Target.atLeast(10))
                            .with("messages", messages)
                            .with("queueRows", messages / QUEUE_SHARE));
        }
    }

    private static void publish(Installation installation, int messages) throws Exception {
        try (Crew crew = Crew.of(
                2,
                () -> () -> installation
                        .publisher()
                        .publishAll(Samples.keyed(BATCH))
                        .size())) {
            crew.times(messages / BATCH);
        }
        require("published", messages, installation.appended());
    }

    /** The rows lie in the order in which they are fetched, with fresh statistics: the baseline at its best. */
    private static void copy(Workbench bench, Installation installation) throws SQLException {
        installation.execute(installation.sql("createRows", "fetched"));
        Log log = installation.trunkline().log();
        try (Connection connection = bench.address().connectRewriting();
                PreparedStatement insert = connection.prepareStatement(installation.sql("insertRow", "fetched"))) {
            for (int partition = 0; partition < Samples.PARTITIONS; partition++) {
                List<LogMessage> messages = log.read(Installation.TOPIC, partition, 0, BATCH);
                while (!messages.isEmpty()) {
                    insert(insert, messages);
                    messages = log.read(
                            Installation.TOPIC, partition, messages.getLast().offset() + 1, BATCH);
                }
            }
        }
        installation.execute(installation.sql("analyzeRows", "fetched"));
    }

    private static void insert(PreparedStatement insert, List<LogMessage> messages) throws SQLException {
        for (LogMessage message : messages) {
            insert.setLong(1, message.offset());
            insert.setLong(2, message.id());
            insert.setLong(3, message.unit());
            insert.setInt(4, message.partition());
            insert.setString(5, message.key());
            insert.setString(6, message.contentType());
            insert.setBytes(7, message.payload());
            insert.addBatch();
        }
        insert.executeBatch();
    }

    private static double fetch(Connection connection, Installation installation, int messages) throws SQLException {
        long began = System.nanoTime();
        long count = 0;
        try (PreparedStatement select = connection.prepareStatement(installation.sql("fetchRows", "fetched"))) {
            select.setFetchSize(BATCH);
            try (ResultSet row = select.executeQuery()) {
                while (row.next()) {
                    count += readColumns(row);
                }
            }
        }
        connection.commit();
        long nanos = System.nanoTime() - began;
        require("fetched", messages, count);
        return messages * 1e9 / nanos;
    }

    /** Reads every column, and returns 1 for a row with a payload. */
    private static int readColumns(ResultSet row) throws SQLException {
        row.getLong(1);
        row.getLong(2);
        row.getLong(3);
        row.getTimestamp(4);
        row.getTimestamp(5);
        row.getInt(6);
        row.getBoolean(7);
        row.getString(8);
        row.getString(9);
        row.getString(10);
        row.getArray(11);
        return row.getBytes(12).length > 0 ? 1 : 0;
    }

    private static Crew takers(Workbench bench, Installation installation) throws Exception {
        installation.execute(installation.sql("createQueue"));
        String sql = installation.sql("takeFromQueue", QUEUE_BATCH);
        return Crew.of(QUEUE_THREADS, () -> new Taker(bench.address().connect(), sql));
    }

    private static void require(String what, long expected, long actual) {
        if (expected != actual) {
            throw new IllegalStateException("%d messages were %s, not %d".formatted(actual, what, expected));
        }
    }

    /** A group that nobody has heard of before, each time; its one handler counts. */
    private static final class Group {
        private final Installation installation;
        private final int messages;
        private int turn;

        Group(Installation installation, int messages) {
            this.installation = installation;
            this.messages = messages;
        }

        double drain() throws InterruptedException {
            AtomicLong handled = new AtomicLong();
            CountDownLatch all = new CountDownLatch(1);
            ConsumerGroup<byte[]> group = installation
                    .trunkline()
                    .createConsumerGroup("drain-" + turn++, Installation.TOPIC, byte[].class)
                    .addConsumer("counter", delivery -> {
                        if (handled.incrementAndGet() == messages) {
                            all.countDown();
                        }
                    });
            long nanos;
            try (group) {
                long began = System.nanoTime();
                group.start(SubscriptionOptions.fromBeginning());
                if (!all.await(PATIENCE_MINUTES, TimeUnit.MINUTES)) {
                    throw new IllegalStateException("%d of %d messages were handled after %d minutes"
                            .formatted(handled.get(), messages, PATIENCE_MINUTES));
                }
                nanos = System.nanoTime() - began;
            }
            require("handled", messages, handled.get());
            return messages * 1e9 / nanos;
        }
    }

    /** The table with a status that one would write first. */
    private record Queue(Workbench bench, Installation installation, Crew takers, int rows) {

        double drain() throws Exception {
            fill();
            bench.settle();
            long began = System.nanoTime();
            takers.times(rows / QUEUE_BATCH);
            long nanos = System.nanoTime() - began;
            try (Connection connection = bench.address().connect()) {
                require("left in the queue", 0, Query.number(connection, installation.sql("leftInQueue")));
            }
            return rows * 1e9 / nanos;
        }

        /** Without statistics: those of a queue where all is new would lead the planner away from the index on the status. */
        private void fill() throws SQLException {
            installation.execute(installation.sql("emptyQueue"));
            try (Connection connection = bench.address().connect();
                    PreparedStatement fill = connection.prepareStatement(installation.sql("fillQueue"))) {
                fill.setBytes(1, Samples.payload());
                fill.setInt(2, rows);
                fill.executeUpdate();
            }
        }
    }

    private static final class Taker extends RawInsert.OnConnection {
        private final PreparedStatement take;

        Taker(Connection connection, String sql) throws SQLException {
            super(connection);
            this.take = connection.prepareStatement(sql);
        }

        @Override
        public long work() throws SQLException {
            long taken = 0;
            try (ResultSet row = take.executeQuery()) {
                while (row.next()) {
                    taken += row.getBytes(1).length > 0 ? 1 : 0;
                }
            }
            return taken;
        }
    }
}
