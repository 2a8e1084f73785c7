package dev.trunkline.checker;

import dev.trunkline.checker.Event.Accepted;
import dev.trunkline.checker.Event.Cursor;
import dev.trunkline.checker.Event.Effect;
import dev.trunkline.checker.Event.First;
import dev.trunkline.checker.Event.Outcome;
import dev.trunkline.checker.Event.Way;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** All that was written down, sorted by what it is about. */
final class History {

    /** A partition of a topic. */
    record Partition(String topic, int number) implements Comparable<Partition> {
        @Override
        public int compareTo(Partition other) {
            int byTopic = topic.compareTo(other.topic);
            return byTopic != 0 ? byTopic : Integer.compare(number, other.number);
        }

        @Override
        public String toString() {
            return topic + "/" + number;
        }
    }

    /** What a group has of a partition. */
    record Stake(String group, Partition partition) implements Comparable<Stake> {
        @Override
        public int compareTo(Stake other) {
            int byGroup = group.compareTo(other.group);
            return byGroup != 0 ? byGroup : partition.compareTo(other.partition);
        }
    }

    /** Who reads a partition. */
    record Reading(String reader, Partition partition) {}

    /** What lies at an offset. */
    record Place(long offset, @Nullable String key, String value, boolean keyIsKnown) {}

    /** A value at an offset where somebody else saw another one. */
    record Conflict(Partition partition, Place one, Place other) {}

    /** All calls that were to publish one value. */
    static final class Publication {
        final String topic;
        final @Nullable String key;
        final Way way;
        long invoked = Long.MAX_VALUE;
        /** When somebody was first told that it is there. */
        long acknowledged = Long.MAX_VALUE;

        private int calls;
        private int failures;

        Publication(String topic, @Nullable String key, Way way) {
            this.topic = topic;
            this.key = key;
            this.way = way;
        }

        boolean isAcknowledged() {
            return acknowledged < Long.MAX_VALUE;
        }

        /** Whether everybody was told that it is not there. */
        boolean hasFailed() {
            return failures == calls;
        }

        void begin(long time) {
            calls++;
            invoked = Math.min(invoked, time);
        }

        void end(long time, Outcome outcome) {
            if (outcome == Outcome.OK) {
                acknowledged = Math.min(acknowledged, time);
            } else if (outcome == Outcome.FAILED) {
                failures++;
            }
        }
    }

    /** A message in the hands of a handler. */
    static final class Handling {
        final long call;
        final long started;
        final String member;
        final long epoch;
        final Place place;
        long ended = Long.MAX_VALUE;
        Outcome outcome = Outcome.UNKNOWN;

        Handling(long call, long started, String member, long epoch, Place place) {
            this.call = call;
            this.started = started;
            this.member = member;
            this.epoch = epoch;
            this.place = place;
        }

        boolean isDone() {
            return outcome == Outcome.OK;
        }

        boolean hasFailed() {
            return outcome == Outcome.FAILED;
        }

        void end(long time, Outcome how) {
            ended = time;
            outcome = how;
        }
    }

    /** Something bad, while it went on. */
    static final class Fault {
        final long began;
        /** The member that it was done to, if to one only. */
        final @Nullable String victim;

        long ended = Long.MAX_VALUE;
        /** What came again because of it. */
        long duplicates;

        Fault(long began, @Nullable String victim) {
            this.began = began;
            this.victim = victim;
        }
    }

    /** What a group is owed of a partition, besides what is there. */
    static final class Terms {
        private static final long NEVER = Long.MAX_VALUE;

        private long from;
        private long fromTime = Long.MIN_VALUE;
        /** By offset, since when it is given up. */
        private final Map<Long, Long> letters = new HashMap<>();
        /** From each offset to the next one here, since when there is a gap. */
        private final TreeMap<Long, Long> gaps = new TreeMap<>();

        void letter(long offset, long since) {
            letters.merge(offset, since, Math::min);
        }

        boolean isLetter(long offset) {
            return letters.containsKey(offset);
        }

        void gap(long from, long to, long since) {
            gaps.put(from, gapSince(from));
            gaps.put(to, gapSince(to));
            gaps.subMap(from, to).replaceAll((offset, other) -> Math.min(other, since));
        }

        private long gapSince(long offset) {
            Map.Entry<Long, Long> gap = gaps.floorEntry(offset);
            return gap == null ? NEVER : gap.getValue();
        }

        /** Where it begins, by the latest word. */
        void from(long offset, long time) {
            if (time >= fromTime) {
                fromTime = time;
                from = offset;
            }
        }

        /** Whether it is not owed a message, or not any more in the end. */
        boolean excuse(long offset) {
            return excusedSince(offset) < NEVER;
        }

        /** Whether it was not owed a message, or not any more at a time. */
        boolean excuse(long offset, long time) {
            return excusedSince(offset) <= time;
        }

        private long excusedSince(long offset) {
            return offset < from ? Event.EVER : Math.min(letters.getOrDefault(offset, NEVER), gapSince(offset));
        }
    }

    final Map<String, Publication> publications = new HashMap<>();
    /** What anybody saw in the log, whether it is still there or not. */
    final Map<Partition, TreeMap<Long, Place>> places = new TreeMap<>();
    /** What is in the log in the end. */
    final Map<Partition, Set<Long>> logged = new TreeMap<>();
    /** Whether that is all of it. */
    boolean isListed;

    /** The values of calls whose end nobody knows: all of them were published, or none. */
    final List<List<String>> unknown = new ArrayList<>();
    /** The values of which a row of business is there. */
    final Set<String> business = new HashSet<>();

    final List<Conflict> conflicts = new ArrayList<>();
    /** What each came to, one after the other. */
    final Map<Reading, List<Place>> readings = new HashMap<>();

    final Map<Stake, List<Handling>> handlings = new TreeMap<>();
    final Map<Stake, List<Cursor>> cursors = new TreeMap<>();
    final Map<Stake, List<Effect>> effects = new TreeMap<>();
    final Map<Stake, List<Accepted>> accepted = new TreeMap<>();
    /** Groups whose messages have effects, and of which topics that was declared. */
    final Map<String, Set<String>> transactional = new HashMap<>();

    final Map<Partition, List<First>> firsts = new TreeMap<>();
    final Faults faults = new Faults();
    /** Groups and the topics they have left. */
    final Map<String, List<String>> left = new HashMap<>();

    long stopped = Long.MAX_VALUE;
    /** How many there are of each kind. */
    final Map<Class<? extends Event>, Long> events = new HashMap<>();

    private final Map<Stake, Terms> terms = new HashMap<>();

    /** What a group is owed of a partition. */
    Terms terms(Stake stake) {
        return terms.computeIfAbsent(stake, s -> new Terms());
    }

    /** The groups of topics, with every partition that anything lies in or that something is recorded of. */
    Collection<Stake> stakes() {
        Map<String, TreeSet<String>> topics = new TreeMap<>();
        for (Set<Stake> some :
                List.of(handlings.keySet(), cursors.keySet(), effects.keySet(), accepted.keySet(), terms.keySet())) {
            for (Stake stake : some) {
                topics.computeIfAbsent(stake.group, group -> new TreeSet<>()).add(stake.partition.topic);
            }
        }
        transactional.forEach((group, its) ->
                topics.computeIfAbsent(group, g -> new TreeSet<>()).addAll(its));
        TreeSet<Stake> all = new TreeSet<>(cursors.keySet());
        all.addAll(accepted.keySet());
        topics.forEach((group, its) -> {
            for (Partition partition : places.keySet()) {
                if (its.contains(partition.topic)) {
                    all.add(new Stake(group, partition));
                }
            }
        });
        return all;
    }

    boolean hasLeft(Stake stake) {
        return left.getOrDefault(stake.group, List.of()).contains(stake.partition.topic);
    }

    /** Where a partition begins in the end. */
    long first(Partition partition) {
        List<First> its = firsts.getOrDefault(partition, List.of());
        return its.isEmpty() ? 0 : its.getLast().offset();
    }

    /** Whether the messages of a group have effects. */
    boolean hasEffects(String group) {
        return transactional.containsKey(group);
    }

    List<Handling> handlings(Stake stake) {
        return handlings.getOrDefault(stake, List.of());
    }

    NavigableMap<Long, Place> places(Partition partition) {
        return places.getOrDefault(partition, new TreeMap<>());
    }

    /** Somebody saw this value there. */
    Place saw(Partition partition, Place seen) {
        TreeMap<Long, Place> its = places.computeIfAbsent(partition, p -> new TreeMap<>());
        Place other = its.putIfAbsent(seen.offset, seen);
        if (other == null) {
            return seen;
        }
        boolean sameKey = !other.keyIsKnown || !seen.keyIsKnown || Objects.equals(other.key, seen.key);
        if (!other.value.equals(seen.value) || !sameKey) {
            conflicts.add(new Conflict(partition, other, seen));
            return seen;
        }
        if (seen.keyIsKnown && !other.keyIsKnown) {
            its.put(seen.offset, seen);
            return seen;
        }
        return other;
    }

    void sort() {
        handlings.values().forEach(list -> list.sort(Comparator.comparingLong(each -> each.started)));
        cursors.values().forEach(list -> list.sort(Comparator.comparingLong(Cursor::time)));
        firsts.values().forEach(list -> list.sort(Comparator.comparingLong(First::time)));
        effects.values()
                .forEach(
                        list -> list.sort(Comparator.comparingLong(Effect::time).thenComparingLong(Effect::offset)));
        faults.sort();
    }
}
