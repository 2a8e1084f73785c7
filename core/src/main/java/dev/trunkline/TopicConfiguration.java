package dev.trunkline;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;

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
 * @param tracking how much is remembered of who has handled what; can be changed later
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
        Keeping keeping,
        CompletionTrackingMode tracking) {

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
        Objects.requireNonNull(tracking, "tracking");
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
                Keeping.standard(),
                CompletionTrackingMode.OFFSET_WATERMARK);
    }

    public TopicConfiguration withSemantics(TopicSemantics semantics) {
        return with(draft -> draft.semantics = semantics);
    }

    /** {@link Ordering#THROUGHPUT} brings priority levels with it. */
    public TopicConfiguration withOrdering(Ordering ordering) {
        return with(draft -> {
            draft.ordering = ordering;
            draft.priorityLevels = ordering == Ordering.THROUGHPUT;
        });
    }

    /** Also sets the lanes to 4, or to the number of partitions if that is smaller. */
    public TopicConfiguration withPartitions(int partitions) {
        return with(draft -> {
            draft.partitions = partitions;
            draft.lanes = Math.min(4, partitions);
        });
    }

    public TopicConfiguration withLanes(int lanes) {
        return with(draft -> draft.lanes = lanes);
    }

    public TopicConfiguration withPriorityLevels(boolean priorityLevels) {
        return with(draft -> draft.priorityLevels = priorityLevels);
    }

    public TopicConfiguration withNamespace(String namespace) {
        return with(draft -> draft.namespace = Optional.of(namespace));
    }

    public TopicConfiguration withTask(String task) {
        return with(draft -> draft.task = Optional.of(task));
    }

    public TopicConfiguration withRetention(Duration retention) {
        return with(draft -> draft.retention = retention);
    }

    public TopicConfiguration withMaxPayloadBytes(int maxPayloadBytes) {
        return with(draft -> draft.maxPayloadBytes = maxPayloadBytes);
    }

    public TopicConfiguration withSegments(long bytes, Duration age) {
        return with(draft -> {
            draft.segmentBytes = bytes;
            draft.segmentAge = age;
        });
    }

    public TopicConfiguration withKeeping(Keeping keeping) {
        return with(draft -> draft.keeping = keeping);
    }

    public TopicConfiguration withTracking(CompletionTrackingMode tracking) {
        return with(draft -> draft.tracking = tracking);
    }

    private TopicConfiguration with(Consumer<Draft> change) {
        Draft draft = new Draft(this);
        change.accept(draft);
        return draft.finish();
    }

    /** A copy that is being changed. */
    private static final class Draft {
        private final String name;
        private TopicSemantics semantics;
        private Ordering ordering;
        private int partitions;
        private int lanes;
        private boolean priorityLevels;
        private Optional<String> namespace;
        private Optional<String> task;
        private Duration retention;
        private int maxPayloadBytes;
        private long segmentBytes;
        private Duration segmentAge;
        private Keeping keeping;
        private CompletionTrackingMode tracking;

        Draft(TopicConfiguration topic) {
            name = topic.name;
            semantics = topic.semantics;
            ordering = topic.ordering;
            partitions = topic.partitions;
            lanes = topic.lanes;
            priorityLevels = topic.priorityLevels;
            namespace = topic.namespace;
            task = topic.task;
            retention = topic.retention;
            maxPayloadBytes = topic.maxPayloadBytes;
            segmentBytes = topic.segmentBytes;
            segmentAge = topic.segmentAge;
            keeping = topic.keeping;
            tracking = topic.tracking;
        }

        TopicConfiguration finish() {
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
                    keeping,
                    tracking);
        }
    }
}
