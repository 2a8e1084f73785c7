package dev.trunkline;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * What a topic is to be. Immutable; each {@code with} method returns a changed copy.
 *
 * {@snippet :
 * topics.create(TopicConfiguration.pubSub("orders.events").withPartitions(32).withRetention(Duration.ofDays(3)));
 * }
 *
 * @param name 1 to 255 characters of any Unicode, except control characters
 * @param semantics who gets a message; can be changed later
 * @param ordering whether messages of one key wait for each other; stays for life
 * @param partitions 1 to 1024; stays for life
 * @param lanes how many appends can run at the same time, 1 to the number of partitions; stays for life
 * @param priorityLevels whether messages may have a {@link Priority}; stays for life
 * @param namespace a first word to subscribe by
 * @param task a second word to subscribe by
 * @param retention how long messages are kept at least
 * @param maxPayloadBytes the largest payload that is accepted
 * @param segmentBytes the size at which a segment of the log is closed
 * @param segmentAge the age at which a segment of the log is closed; messages are dropped by whole segments
 * @param keeping what is kept for groups that do not come for it
 */
public record TopicConfiguration(
        String name,
        TopicSemantics semantics,
        Ordering ordering,
        int partitions,
        int lanes,
        boolean priorityLevels,
        Optional<String> namespace,
        Optional<String> task,
        Duration retention,
        int maxPayloadBytes,
        long segmentBytes,
        Duration segmentAge,
        Keeping keeping) {

    private static final int MEBIBYTE = 1024 * 1024;

    public TopicConfiguration {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(semantics, "semantics");
        Objects.requireNonNull(ordering, "ordering");
        Objects.requireNonNull(namespace, "namespace");
        Objects.requireNonNull(task, "task");
        Objects.requireNonNull(retention, "retention");
        Objects.requireNonNull(segmentAge, "segmentAge");
        Objects.requireNonNull(keeping, "keeping");
    }

    /** A topic whose messages go to one consumer each. */
    public static TopicConfiguration queue(String name) {
        return of(name, TopicSemantics.QUEUE);
    }

    /** A topic whose messages go to every group. */
    public static TopicConfiguration pubSub(String name) {
        return of(name, TopicSemantics.PUB_SUB);
    }

    private static TopicConfiguration of(String name, TopicSemantics semantics) {
        return new TopicConfiguration(
                name,
                semantics,
                Ordering.ORDERED,
                16,
                4,
                false,
                Optional.empty(),
                Optional.empty(),
                Duration.ofDays(7),
                MEBIBYTE,
                256L * MEBIBYTE,
                Duration.ofHours(1),
                Keeping.standard());
    }

    public TopicConfiguration withSemantics(TopicSemantics newSemantics) {
        return new TopicConfiguration(
                name,
                newSemantics,
                ordering,
                partitions,
                lanes,
                priorityLevels,
                namespace,
                task,
                retention,
                maxPayloadBytes,
                segmentBytes,
                segmentAge,
                keeping);
    }

    /** {@link Ordering#THROUGHPUT} brings priority levels with it. */
    public TopicConfiguration withOrdering(Ordering newOrdering) {
        return new TopicConfiguration(
                name,
                semantics,
                newOrdering,
                partitions,
                lanes,
                newOrdering == Ordering.THROUGHPUT,
                namespace,
                task,
                retention,
                maxPayloadBytes,
                segmentBytes,
                segmentAge,
                keeping);
    }

    /** Also sets the lanes to 4, or to the number of partitions if that is smaller. */
    public TopicConfiguration withPartitions(int newPartitions) {
        return new TopicConfiguration(
                name,
                semantics,
                ordering,
                newPartitions,
                Math.min(4, newPartitions),
                priorityLevels,
                namespace,
                task,
                retention,
                maxPayloadBytes,
                segmentBytes,
                segmentAge,
                keeping);
    }

    public TopicConfiguration withLanes(int newLanes) {
        return new TopicConfiguration(
                name,
                semantics,
                ordering,
                partitions,
                newLanes,
                priorityLevels,
                namespace,
                task,
                retention,
                maxPayloadBytes,
                segmentBytes,
                segmentAge,
                keeping);
    }

    public TopicConfiguration withPriorityLevels(boolean newPriorityLevels) {
        return new TopicConfiguration(
                name,
                semantics,
                ordering,
                partitions,
                lanes,
                newPriorityLevels,
                namespace,
                task,
                retention,
                maxPayloadBytes,
                segmentBytes,
                segmentAge,
                keeping);
    }

    public TopicConfiguration withNamespace(String newNamespace) {
        return new TopicConfiguration(
                name,
                semantics,
                ordering,
                partitions,
                lanes,
                priorityLevels,
                Optional.of(newNamespace),
                task,
                retention,
                maxPayloadBytes,
                segmentBytes,
                segmentAge,
                keeping);
    }

    public TopicConfiguration withTask(String newTask) {
        return new TopicConfiguration(
                name,
                semantics,
                ordering,
                partitions,
                lanes,
                priorityLevels,
                namespace,
                Optional.of(newTask),
                retention,
                maxPayloadBytes,
                segmentBytes,
                segmentAge,
                keeping);
    }

    public TopicConfiguration withRetention(Duration newRetention) {
        return new TopicConfiguration(
                name,
                semantics,
                ordering,
                partitions,
                lanes,
                priorityLevels,
                namespace,
                task,
                newRetention,
                maxPayloadBytes,
                segmentBytes,
                segmentAge,
                keeping);
    }

    public TopicConfiguration withMaxPayloadBytes(int newMaxPayloadBytes) {
        return new TopicConfiguration(
                name,
                semantics,
                ordering,
                partitions,
                lanes,
                priorityLevels,
                namespace,
                task,
                retention,
                newMaxPayloadBytes,
                segmentBytes,
                segmentAge,
                keeping);
    }

    public TopicConfiguration withSegments(long newSegmentBytes, Duration newSegmentAge) {
        return new TopicConfiguration(
                name,
                semantics,
                ordering,
                partitions,
                lanes,
                priorityLevels,
                namespace,
                task,
                retention,
                maxPayloadBytes,
                newSegmentBytes,
                newSegmentAge,
                keeping);
    }

    public TopicConfiguration withKeeping(Keeping newKeeping) {
        return new TopicConfiguration(
                name,
                semantics,
                ordering,
                partitions,
                lanes,
                priorityLevels,
                namespace,
                task,
                retention,
                maxPayloadBytes,
                segmentBytes,
                segmentAge,
                newKeeping);
    }
}
