package dev.trunkline.benchmarks;

import dev.trunkline.Log;
import dev.trunkline.LogMessage;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.benchmarks.peer.Design;
import dev.trunkline.benchmarks.peer.Member;
import dev.trunkline.benchmarks.peer.Peer;
import dev.trunkline.benchmarks.peer.Sender;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;

/** A new group works off a backlog, against a bare fetch of the same messages and against a textbook queue. */
final class ConsumeDrain implements Scenario {

    private static final int MOST_REPETITIONS = 3;
    private static final int BATCH = 1_000;
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
        int messages = bench.effort().amounts().consumeMessages();
        try (Installation installation = bench.install("drain", true);
                Connection fetching = bench.address().connectBinary();
                Peer queue = Design.TEXTBOOK_BATCHES.open(bench.address())) {
            bench.progress("%s: publishing and copying %d messages".formatted(name(), messages));
            installation.publish(messages);
            copy(bench, installation);
            fetching.setAutoCommit(false);
            Group group = new Group(installation, messages);
            Contest.Turns turns = new Contest(bench.atMost(MOST_REPETITIONS), name())
                    .with(FETCH, seconds -> fetch(fetching, installation, messages))
                    .with(GROUP, seconds -> group.drain())
                    .with(QUEUE, seconds -> drain(bench, queue, messages))
                    .run();
            return List.of(
                    turns.compare(
                                    name(),
                                    "messages/s",
                                    GROUP,
                                    FETCH,
                                    "select … order by primary key of the same messages, a row each, 1,000 at a time, binary",
                                    Target.atLeast(0.50))
                            .with("messages", messages),
                    turns.compare(
                                    name() + "-textbook",
                                    "messages/s",
                                    GROUP,
                                    QUEUE,
                                    Design.TEXTBOOK_BATCHES.words(),
                                    Target.atLeast(10))
                            .with("messages", messages));
        }
    }

    /** A queue with as many messages, which were put in before. */
    private static double drain(Workbench bench, Peer queue, int messages) throws Exception {
        queue.clear(1);
        Tally taken = new Tally("taken from the queue");
        long nanos;
        try (Member member = queue.join()) {
            try (Crew crew = Crew.of(2, () -> putter(member.sender()))) {
                crew.times(messages / BATCH);
            }
            bench.settle();
            long began = System.nanoTime();
            member.consume(0, letter -> taken.add());
            taken.await(messages);
            nanos = System.nanoTime() - began;
        }
        taken.require(messages);
        return messages * 1e9 / nanos;
    }

    private static Crew.Worker putter(Sender sender) {
        return () -> {
            sender.send(Samples.letters(BATCH));
            return BATCH;
        };
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
        Tally.require("fetched", messages, count);
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
            try (CountedGroup group = new CountedGroup(installation.trunkline(), "drain-" + turn++)) {
                long began = System.nanoTime();
                group.start(SubscriptionOptions.fromBeginning()).await(messages);
                long nanos = System.nanoTime() - began;
                group.closeAt(messages);
                return messages * 1e9 / nanos;
            }
        }
    }
}
