package dev.trunkline.consume;

import dev.trunkline.ConsumerGroupAdmin;
import dev.trunkline.ConsumerGroupException;
import dev.trunkline.GroupStatus;
import dev.trunkline.Priority;
import dev.trunkline.Start;
import dev.trunkline.TopicPattern;
import dev.trunkline.database.Places;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** {@link ConsumerGroupAdmin}: the functions and views of {@code 015_admin.sql}. */
record Administration(Calls calls) implements ConsumerGroupAdmin {

    @Override
    public List<GroupState> groups() {
        return list("groups", Administration::state);
    }

    @Override
    public Optional<GroupState> find(String group, String topic) {
        return list("group", Administration::state, group, topic).stream().findFirst();
    }

    @Override
    public List<Lag> lag(String group, String topic) {
        List<Lag> lags = list("lag", Administration::lag, group, topic);
        if (lags.isEmpty()) {
            throw new ConsumerGroupException(
                    "group \"" + group + "\" of topic \"" + topic + "\" is cancelled: it has nothing left to do");
        }
        return lags;
    }

    private static Lag lag(ResultSet row) throws SQLException {
        Optional<Duration> age = Optional.ofNullable(row.getObject(7, Double.class))
                .map(seconds -> Duration.ofMillis(Math.round(seconds * 1_000)));
        return new Lag(
                row.getInt(1), row.getInt(2), row.getLong(3), row.getLong(4), row.getLong(5), row.getLong(6), age);
    }

    @Override
    public List<Moved> planSeek(String group, String topic, Start to) {
        return seek(group, topic, to, null, false, true);
    }

    @Override
    public List<Moved> seek(String group, String topic, Start to) {
        return seek(group, topic, to, null, false, false);
    }

    @Override
    public List<Moved> seekByForce(String group, String topic, Start to) {
        return seek(group, topic, to, null, true, false);
    }

    @Override
    public List<Moved> seekByForce(String group, String topic, int partition, Start to) {
        return seek(group, topic, to, partition, true, false);
    }

    private List<Moved> seek(
            String group, String topic, Start to, @Nullable Integer partition, boolean force, boolean dryRun) {
        return list(
                "seek",
                row -> new Moved(
                        row.getInt(1), row.getInt(2), row.getLong(3), row.getLong(4), row.getLong(5), row.getLong(6)),
                group,
                topic,
                Places.mode(to),
                Places.time(to),
                Places.lookBack(to),
                to.number(),
                partition,
                force,
                dryRun);
    }

    @Override
    public void pause(String group, String topic) {
        calls.run("changeGroup", group, topic, GroupStatus.PAUSED.name());
    }

    @Override
    public void resume(String group, String topic) {
        calls.run("changeGroup", group, topic, GroupStatus.ACTIVE.name());
    }

    @Override
    public void cancel(String group, String topic) {
        calls.run("changeGroup", group, topic, GroupStatus.CANCELLED.name());
    }

    @Override
    public void resurrect(String group, String topic, boolean history) {
        calls.run("resurrect", group, topic, history, null);
    }

    @Override
    public void resurrect(String group, String topic, long maxMessages) {
        calls.run("resurrect", group, topic, true, maxMessages);
    }

    @Override
    public Optional<CatchUp> catchUp(String group, String topic) {
        return list(
                        "catchUp",
                        row -> new CatchUp(
                                CatchUpState.valueOf(row.getString(1)),
                                row.getLong(2),
                                row.getLong(3),
                                row.getDouble(4),
                                Optional.ofNullable(row.getObject(5, Long.class))
                                        .map(Duration::ofSeconds)),
                        group,
                        topic)
                .stream()
                .findFirst();
    }

    @Override
    public void cancelCatchUp(String group, String topic) {
        calls.run("holdCatchUp", group, topic, true);
    }

    @Override
    public void resumeCatchUp(String group, String topic) {
        calls.run("holdCatchUp", group, topic, false);
    }

    @Override
    public long skipCatchUp(String group, String topic) {
        return list("skipCatchUp", row -> row.getLong(1), group, topic).getFirst();
    }

    @Override
    public long forceComplete(String group, String topic) {
        return list("forceComplete", row -> row.getLong(1), group, topic).getFirst();
    }

    @Override
    public List<Gap> gaps(String group, String topic) {
        return list(
                "gaps",
                row -> new Gap(
                        row.getInt(1),
                        row.getInt(2),
                        row.getLong(3),
                        row.getLong(4),
                        row.getString(5),
                        row.getObject(6, OffsetDateTime.class).toInstant()),
                group,
                topic);
    }

    @Override
    public List<Wildcard> wildcards() {
        return list(
                "wildcards",
                row -> new Wildcard(
                        row.getString(1),
                        new TopicPattern(row.getString(2), row.getString(3), row.getString(4)),
                        row.getInt(5),
                        row.getObject(6, OffsetDateTime.class).toInstant()));
    }

    @Override
    public void cancelWildcard(String group, TopicPattern pattern) {
        new GroupTable(calls).cancelWildcard(group, pattern);
    }

    @Override
    public List<Fact> explain(String group, String topic, long messageId) {
        return facts(group, topic, messageId, null, null, Priority.NORMAL);
    }

    @Override
    public List<Fact> explain(String group, String topic, int partition, Priority priority, long offset) {
        return facts(group, topic, null, partition, offset, priority);
    }

    private List<Fact> facts(
            String group,
            String topic,
            @Nullable Long id,
            @Nullable Integer partition,
            @Nullable Long offset,
            Priority priority) {
        return list(
                "explain",
                row -> new Fact(row.getString(1), row.getString(2)),
                group,
                topic,
                id,
                partition,
                offset,
                priority.code());
    }

    @Override
    public List<Handled> audit(String topic, long messageId) {
        return list(
                "audit",
                row -> new Handled(
                        row.getString(1),
                        HandledState.valueOf(row.getString(2)),
                        row.getBoolean(3),
                        instant(row, 4),
                        Optional.ofNullable(row.getString(5)),
                        Optional.ofNullable(row.getObject(6, Long.class))),
                topic,
                messageId);
    }

    @Override
    public List<TopicHealth> topics() {
        return list(
                "topicHealth",
                row -> new TopicHealth(
                        row.getString(1),
                        row.getInt(2),
                        row.getLong(3),
                        row.getInt(4),
                        row.getBoolean(5),
                        Optional.ofNullable(row.getString(6)),
                        instant(row, 7),
                        row.getLong(8),
                        row.getBoolean(9),
                        row.getInt(10),
                        row.getLong(11),
                        row.getLong(12)));
    }

    @Override
    public List<Figure> figures() {
        return list(
                "figures", row -> new Figure(row.getString(1), row.getString(2), row.getString(3), row.getDouble(4)));
    }

    private static GroupState state(ResultSet row) throws SQLException {
        return new GroupState(
                row.getString(1),
                row.getString(2),
                GroupStatus.valueOf(row.getString(3)),
                Health.valueOf(row.getString(4)),
                row.getInt(5),
                instant(row, 6),
                row.getLong(7),
                row.getLong(8),
                instant(row, 9),
                row.getLong(10),
                row.getLong(11),
                row.getLong(12),
                instant(row, 13),
                row.getObject(14, OffsetDateTime.class).toInstant());
    }

    private static Optional<Instant> instant(ResultSet row, int column) throws SQLException {
        return Optional.ofNullable(row.getObject(column, OffsetDateTime.class)).map(OffsetDateTime::toInstant);
    }

    private <R> List<R> list(String name, Calls.Reading<R> line, @Nullable Object... parameters) {
        return calls.call(
                name,
                row -> {
                    List<R> lines = new ArrayList<>();
                    while (row.next()) {
                        lines.add(line.of(row));
                    }
                    return lines;
                },
                parameters);
    }
}
