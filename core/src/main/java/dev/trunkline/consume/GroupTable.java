package dev.trunkline.consume;

import dev.trunkline.BackfillConfiguration;
import dev.trunkline.GroupStatus;
import dev.trunkline.Start;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicPattern;
import dev.trunkline.UnknownTopicException;
import dev.trunkline.database.Places;
import java.sql.Array;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.ObjLongConsumer;
import org.jspecify.annotations.Nullable;

/** What is kept of groups, who holds their partitions, and how far they are: the functions of {@code 009_groups.sql}. */
final class GroupTable {

    private final Calls calls;

    GroupTable(Calls calls) {
        this.calls = calls;
    }

    /**
     * A group's place in the database, and the shape of its topic.
     *
     * @param keyed whether it wants some keys only
     */
    record Subscription(int id, int partitions, int levels, boolean ordered, boolean keyed) {}

    /**
     * What a member can see of its group.
     *
     * @param isMember it is one of those that take part
     * @param others how many partitions each other member holds
     * @param intents somebody has decided on dead letters
     * @param historyHeld somebody has stopped it catching up
     * @param tracked it is to be recorded what was not for the group
     * @param name what the group is called now: it has another name once the topic is a queue; null: it is forgotten
     */
    record View(
            GroupStatus status,
            int partitions,
            boolean isMember,
            int mine,
            List<Integer> others,
            int rank,
            boolean intents,
            boolean historyHeld,
            boolean tracked,
            @Nullable String name) {

        int members() {
            return others.size() + 1;
        }

        /** Whether this process should rather have it than another one: it is the same for all groups, so that they share what they read. */
        boolean suits(int partition) {
            return partition % members() == rank;
        }
    }

    Subscription subscribe(String group, String topic, SubscriptionOptions options) {
        Start start = options.start();
        return calls.call(
                "subscribe",
                row -> {
                    row.next();
                    return subscription(row);
                },
                group,
                topic,
                Places.mode(start),
                Places.time(start),
                Places.lookBack(start),
                start.number(),
                options.deadAfter().toString(),
                options.keys().isEmpty() ? null : options.keys().toArray(String[]::new),
                bound(options),
                topic);
    }

    /** What a group has of a topic by a wildcard. */
    Subscription rejoin(String group, String topic, SubscriptionOptions options) {
        return calls.call(
                "rejoin",
                row -> {
                    row.next();
                    return subscription(row);
                },
                group,
                topic,
                options.deadAfter().toString(),
                bound(options),
                topic);
    }

    private static @Nullable Long bound(SubscriptionOptions options) {
        return options.backfill().map(BackfillConfiguration::maxMessages).orElse(null);
    }

    private static Subscription subscription(ResultSet row) throws SQLException {
        return new Subscription(
                row.getInt(1), row.getInt(2), row.getInt(3), row.getString(4).equals("ORDERED"), row.getBoolean(5));
    }

    /** Subscribes a group to topics by a pattern, and returns the number of that. */
    int subscribe(String group, TopicPattern pattern, SubscriptionOptions options) {
        return calls.call(
                "subscribeWildcard",
                row -> {
                    row.next();
                    return row.getInt(1);
                },
                group,
                pattern.namespace(),
                pattern.task(),
                pattern.name(),
                Places.mode(options.start()),
                Places.time(options.start()),
                Places.lookBack(options.start()),
                options.deadAfter().toString(),
                bound(options));
    }

    /** The topics that a group has by a wildcard, with the subscriptions to them. */
    Map<String, Integer> topics(int wildcard) {
        Map<String, Integer> topics = new TreeMap<>();
        each("topicsOf", row -> topics.put(row.getString(1), row.getInt(2)), wildcard);
        return topics;
    }

    void cancelWildcard(String group, TopicPattern pattern) {
        calls.run("cancelWildcard", group, pattern.namespace(), pattern.task(), pattern.name());
    }

    /** The partitions that a session owns, with their epochs. */
    Map<Integer, Long> owned(int subscription, long session) {
        return calls.call(
                "owned",
                row -> {
                    Map<Integer, Long> epochs = new TreeMap<>();
                    while (row.next()) {
                        epochs.put(row.getInt(1), row.getLong(2));
                    }
                    return epochs;
                },
                subscription,
                session);
    }

    void join(int subscription, long session) {
        calls.run("join", subscription, session);
    }

    void leave(int subscription, long session) {
        calls.run("leave", subscription, session);
    }

    View view(int subscription, long session) {
        return calls.call(
                "shares",
                row -> {
                    row.next();
                    String status = row.getString(1); // null: it was cancelled so long ago that it is forgotten
                    boolean isMember = false;
                    int mine = 0;
                    int rank = 0;
                    List<Integer> others = new ArrayList<>();
                    Array sessions = row.getArray(3);
                    if (sessions != null) {
                        Long[] ids = (Long[]) sessions.getArray();
                        Integer[] counts = (Integer[]) row.getArray(4).getArray();
                        for (int i = 0; i < ids.length; i++) {
                            rank += ids[i] < session ? 1 : 0;
                            if (ids[i] == session) {
                                isMember = true;
                                mine = counts[i];
                            } else {
                                others.add(counts[i]);
                            }
                        }
                    }
                    return new View(
                            status == null ? GroupStatus.CANCELLED : GroupStatus.valueOf(status),
                            row.getInt(2),
                            isMember,
                            mine,
                            others,
                            rank,
                            row.getBoolean(5),
                            row.getBoolean(6),
                            row.getBoolean(7),
                            row.getString(8));
                },
                subscription);
    }

    /** A partition that was taken. Orphaned: its last owner did not let it go. */
    private record Taken(long epoch, boolean orphaned) {}

    /**
     * Takes partitions. What was done in them is read in statements of their own, after the take-over was committed: earlier they
     * may not see the last owner's last record.
     *
     * @param view of the group: first those that suit this process
     * @param only of these; empty: of all
     * @param window how many messages the last owner may have read ahead
     */
    List<Owned> take(Subscription subscription, long session, View view, int most, Set<Integer> only, int window) {
        Map<Integer, Taken> taken = calls.call(
                "take",
                row -> {
                    Map<Integer, Taken> partitions = new TreeMap<>();
                    while (row.next()) {
                        partitions.put(row.getInt(1), new Taken(row.getLong(2), row.getBoolean(3)));
                    }
                    return partitions;
                },
                session,
                subscription.id(),
                most,
                only.isEmpty() ? null : only.toArray(Integer[]::new),
                view.members(),
                view.rank());
        if (taken.isEmpty()) {
            return List.of();
        }
        Map<Integer, Strand> strands = strands(subscription, taken.keySet().toArray(Integer[]::new));
        List<Owned> owned = new ArrayList<>();
        taken.forEach((partition, how) -> {
            List<Strand> its = strands.values().stream()
                    .filter(strand -> strand.number() % subscription.partitions() == partition)
                    .toList();
            if (how.orphaned()) {
                its.forEach(strand -> strand.orphan(window));
            }
            owned.add(new Owned(partition, how.epoch(), its));
        });
        return owned;
    }

    /** What was done, has failed, is suspected and is wanted in some partitions. */
    private Map<Integer, Strand> strands(Subscription of, Integer[] partitions) {
        int subscription = of.id();
        Map<Integer, Strand> strands = new TreeMap<>();
        each(
                "done",
                row -> strands.put(
                        row.getInt(1),
                        new Strand(row.getInt(1), (Long[]) row.getArray(2).getArray(), (Long[])
                                row.getArray(3).getArray())),
                subscription,
                partitions);
        Integer[] numbers = strands.keySet().toArray(Integer[]::new);
        each("attempts", row -> strand(strands, row).remember(row.getLong(2), row.getInt(3)), subscription, numbers);
        each("suspects", row -> strand(strands, row).suspect(row.getLong(2), row.getBoolean(3)), subscription, numbers);
        each(
                "histories",
                row -> eachLevel(
                        strands, of, row.getInt(1), (Long[]) row.getArray(2).getArray(), Strand::history),
                subscription,
                partitions);
        if (of.keyed()) {
            strands.values().forEach(Strand::wantNothing);
            each(
                    "keys",
                    row -> {
                        String key = row.getString(2);
                        Long[] starts = (Long[]) row.getArray(3).getArray();
                        eachLevel(strands, of, row.getInt(1), starts, (strand, from) -> strand.want(key, from));
                    },
                    subscription,
                    partitions);
        }
        return strands;
    }

    /** What is said of a partition, level by level, to its strands. */
    private static void eachLevel(
            Map<Integer, Strand> strands, Subscription of, int partition, Long[] levels, ObjLongConsumer<Strand> said) {
        for (int level = 0; level < levels.length; level++) {
            Strand strand = strands.get(partition + of.partitions() * level);
            if (strand != null) {
                said.accept(strand, levels[level]);
            }
        }
    }

    private static Strand strand(Map<Integer, Strand> strands, ResultSet row) throws SQLException {
        Strand strand = strands.get(row.getInt(1));
        if (strand == null) {
            throw new IllegalStateException("no strand " + row.getInt(1));
        }
        return strand;
    }

    private interface Row {
        void at(ResultSet row) throws SQLException;
    }

    private void each(String name, Row reading, Object... parameters) {
        calls.call(
                name,
                row -> {
                    while (row.next()) {
                        reading.at(row);
                    }
                    return true;
                },
                parameters);
    }

    /**
     * Lets go of partitions that are still held at these epochs.
     *
     * @param orphaned those of which something is still suspect that was under way when a process died
     */
    void release(int subscription, long session, Map<Integer, Long> epochs, Set<Integer> orphaned) {
        calls.run(
                "release",
                session,
                subscription,
                epochs.keySet().toArray(Integer[]::new),
                epochs.values().toArray(Long[]::new),
                epochs.keySet().stream().map(orphaned::contains).toArray(Boolean[]::new));
    }

    /**
     * What was done in one strand.
     *
     * @param top behind the last of it
     * @param rejected what of it was not for the group; null: nothing, or nobody wants to know
     */
    record Entry(
            int subscription,
            Owned owned,
            Strand strand,
            long sequence,
            long top,
            String done,
            @Nullable String rejected) {}

    /** Records entries and returns those that were refused: their partitions belong to somebody else. */
    List<Entry> record(long session, List<Entry> entries) {
        Integer[] accepted = calls.call(
                "record",
                row -> {
                    row.next();
                    Array array = row.getArray(1);
                    return array == null ? new Integer[0] : (Integer[]) array.getArray();
                },
                session,
                column(entries, Integer[]::new, Entry::subscription),
                column(entries, Integer[]::new, entry -> entry.owned().partition()),
                column(entries, Integer[]::new, entry -> entry.strand().number()),
                column(entries, Long[]::new, entry -> entry.owned().epoch()),
                column(entries, Long[]::new, Entry::sequence),
                column(entries, String[]::new, Entry::done),
                column(entries, String[]::new, Entry::rejected));
        List<Entry> refused = new ArrayList<>(entries);
        for (int number : accepted) {
            Entry entry = entries.get(number - 1);
            entry.strand().recorded(entry.top());
            refused.remove(entry);
        }
        return refused;
    }

    private static <T> T[] column(
            List<Entry> entries, IntFunction<T[]> array, Function<Entry, ? extends @Nullable T> column) {
        return entries.stream().map(column).toArray(array);
    }

    /** Where the strands of a topic end; null: the log is damaged there. */
    @Nullable
    Long[] readableEnds(String topic) {
        return calls.call(
                "readableEnds",
                row -> {
                    if (!row.next()) {
                        throw new UnknownTopicException("there is no topic \"" + topic + "\" any more");
                    }
                    return (Long[]) row.getArray(1).getArray();
                },
                topic);
    }

    /** Where the strands of a topic end. */
    Long[] ends(String topic) {
        return calls.call(
                "bounds",
                row -> {
                    if (!row.next()) {
                        throw new UnknownTopicException("there is no topic \"" + topic + "\" any more");
                    }
                    return (Long[]) row.getArray(2).getArray();
                },
                topic);
    }

    /** Asks a small question, and returns how long the answer took. */
    long probe(int subscription) {
        long began = System.nanoTime();
        calls.run("probe", subscription);
        return System.nanoTime() - began;
    }

    /** How many partitions a topic has. */
    int partitions(String topic) {
        return calls.call(
                "bounds",
                row -> {
                    if (!row.next()) {
                        throw new UnknownTopicException("there is no topic \"" + topic + "\": create it first");
                    }
                    return ((Long[]) row.getArray(2).getArray()).length / row.getInt(1);
                },
                topic);
    }

    void changeStatus(int subscription, GroupStatus status) {
        calls.run("changeStatus", subscription, status.name());
    }
}
