package dev.trunkline.benchmarks;

import dev.trunkline.ConsumerGroup;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.benchmarks.Contest.Turns;
import dev.trunkline.benchmarks.database.Query;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** A new group that begins at the beginning of a topic with many messages, against one of an empty topic. */
final class LateJoin implements Scenario {

    private static final String INSTALLATION = "late_join";
    private static final String FULL = Installation.TOPIC;
    private static final String EMPTY = "empty";
    private static final Set<String> TOPICS = Set.of(FULL, EMPTY);
    private static final int SUBSCRIPTIONS = 100;
    private static final int STARTS = 15;
    private static final int MOST_ROWS = 100;

    private int groups;

    @Override
    public String name() {
        return "late-join";
    }

    @Override
    public String summary() {
        return "subscribing a new group to a topic with many messages, against an empty topic; and the rows that this writes";
    }

    @Override
    public List<Result> run(Workbench bench) throws Exception {
        int messages = bench.effort().amounts().joinedMessages();
        try (Writes writes = new Writes(bench, INSTALLATION)) {
            publish(bench, messages);
            List<Result> results = new ArrayList<>(times(bench, messages));
            results.add(rows(bench, writes, messages));
            return results;
        }
    }

    private void publish(Workbench bench, int messages) throws Exception {
        bench.progress("%s: publishing %d messages".formatted(name(), messages));
        try (Installation installation = bench.install(INSTALLATION, true)) {
            installation.configure(TopicConfiguration.pubSub(EMPTY));
            installation.publish(messages);
        }
    }

    private List<Result> times(Workbench bench, int messages) throws Exception {
        // Without background work: no upkeep looks after all these groups meanwhile.
        try (Installation installation = bench.install(INSTALLATION, false);
                Connection connection = connect(bench)) {
            String subscribe = installation.sql("subscribe");
            Times subscriptions =
                    byTurns(bench, name(), SUBSCRIPTIONS, topic -> subscribe(connection, subscribe, topic));
            Tally.require(
                    "ahead of the last group that joined them",
                    messages,
                    Query.number(connection, installation.sql("ahead"), subscribed(FULL), FULL));
            Times starts = byTurns(bench, name() + "-start", STARTS, topic -> start(installation, topic));
            return List.of(
                    compare(
                            subscriptions,
                            name(),
                            "ms, median of trunkline.subscribe in a transaction of its own",
                            messages,
                            SUBSCRIPTIONS),
                    compare(
                            starts,
                            name() + "-start",
                            "ms, median of ConsumerGroup.start until it returns",
                            messages,
                            STARTS));
        }
    }

    private static Result compare(Times times, String scenario, String unit, int messages, int joins) {
        return times.medians()
                .compare(
                        scenario,
                        unit,
                        FULL,
                        EMPTY,
                        "the same on an empty topic, by turns, group by group",
                        Target.atMost(3, "many messages / none"))
                .with("messages", messages)
                .with("partitions", Samples.PARTITIONS)
                .with("groupsInEachTurn", joins)
                .with("fastestMillis", Numbers.min(times.fastest().of(FULL)))
                .with("fastestRatio", Numbers.median(times.fastest().ratios(FULL, EMPTY)));
    }

    /** A new group joins. */
    @FunctionalInterface
    private interface Join {
        /** Joins that topic, and returns how many nanoseconds that took. */
        long nanos(String topic) throws Exception;
    }

    /** Of each turn. On a busy machine a median may be little but the wait for a processor; the fastest had none. */
    private record Times(Turns medians, Turns fastest) {}

    private Times byTurns(Workbench bench, String scenario, int joins, Join join) throws Exception {
        int repetitions = bench.effort().repetitions();
        Times times = new Times(Turns.of(TOPICS, repetitions), Turns.of(TOPICS, repetitions));
        bench.progress(scenario + ": warming up");
        alternate(joins, join);
        for (int i = 0; i < repetitions; i++) {
            bench.progress("%s: %d of %d".formatted(scenario, i + 1, repetitions));
            bench.settle();
            Turns pairs = alternate(joins, join);
            for (String topic : TOPICS) {
                times.medians().of(topic)[i] = Numbers.median(pairs.of(topic));
                times.fastest().of(topic)[i] = Numbers.min(pairs.of(topic));
            }
        }
        return times;
    }

    private Turns alternate(int joins, Join join) throws Exception {
        Turns millis = Turns.of(TOPICS, joins);
        for (int i = 0; i < joins; i++) {
            groups++;
            for (String topic : TOPICS) {
                millis.of(topic)[i] = join.nanos(topic) / 1e6;
            }
        }
        return millis;
    }

    private long subscribe(Connection connection, String subscribe, String topic) throws SQLException {
        long began = System.nanoTime();
        List<String> created = Query.texts(connection, subscribe, subscribed(topic), topic);
        long nanos = System.nanoTime() - began;
        if (!created.equals(List.of("t"))) {
            throw new IllegalStateException("the group was there before: " + subscribed(topic));
        }
        return nanos;
    }

    private long start(Installation installation, String topic) {
        try (ConsumerGroup<byte[]> group = installation
                .trunkline()
                .createConsumerGroup("started-" + groups, topic, byte[].class)
                .addConsumer("idle", delivery -> {})) {
            long began = System.nanoTime();
            group.start(SubscriptionOptions.fromBeginning());
            return System.nanoTime() - began;
        }
    }

    private String subscribed(String topic) {
        return "%s-%d".formatted(topic, groups);
    }

    private Result rows(Workbench bench, Writes writes, int messages) throws Exception {
        double rows = rows(bench, writes, FULL);
        return Result.of(
                        name() + "-rows",
                        "rows written by one subscription",
                        new double[] {rows},
                        "a row for each message that is there",
                        new double[] {messages},
                        new double[] {rows / messages},
                        new Target("value <= " + MOST_ROWS, ratio -> rows <= MOST_ROWS))
                .with("messages", messages)
                .with("partitions", Samples.PARTITIONS)
                .with("rowsOnAnEmptyTopic", rows(bench, writes, EMPTY));
    }

    private long rows(Workbench bench, Writes writes, String topic) throws SQLException, InterruptedException {
        groups++;
        Writes.Total before = writes.total();
        try (Connection connection = connect(bench)) {
            subscribe(connection, bench.sql(INSTALLATION).get("subscribe"), topic);
        }
        return writes.total().since(before).rows();
    }

    /** Named as the connections of an instance are, so that {@link Writes} waits until it has left. */
    private static Connection connect(Workbench bench) throws SQLException {
        Connection connection = bench.address().connect();
        connection.setClientInfo("ApplicationName", "trunkline");
        return connection;
    }
}
