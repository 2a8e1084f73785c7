package dev.trunkline.server.topics;

import dev.trunkline.CompletionTrackingMode;
import dev.trunkline.Ordering;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.TopicSemantics;
import java.time.Duration;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** What can be said of a topic, on the command line and over HTTP. What is not said, null, is as usual or stays. */
public record TopicSettings(
        @Nullable String name,
        @Nullable TopicSemantics semantics,
        @Nullable Ordering ordering,
        @Nullable Integer partitions,
        @Nullable Integer lanes,
        @Nullable Boolean priorityLevels,
        @Nullable String namespace,
        @Nullable String task,
        @Nullable Duration retention,
        @Nullable Integer maxPayloadBytes,
        @Nullable Long segmentBytes,
        @Nullable Duration segmentAge,
        @Nullable CompletionTrackingMode tracking) {

    public TopicConfiguration applyTo(TopicConfiguration topic) {
        TopicConfiguration next = with(topic, semantics, TopicConfiguration::withSemantics);
        next = with(next, ordering, TopicConfiguration::withOrdering);
        next = with(next, partitions, TopicConfiguration::withPartitions);
        next = with(next, lanes, TopicConfiguration::withLanes);
        next = with(next, priorityLevels, TopicConfiguration::withPriorityLevels);
        next = with(next, namespace, TopicConfiguration::withNamespace);
        next = with(next, task, TopicConfiguration::withTask);
        next = with(next, retention, TopicConfiguration::withRetention);
        next = with(next, maxPayloadBytes, TopicConfiguration::withMaxPayloadBytes);
        next = with(next, tracking, TopicConfiguration::withTracking);
        return next.withSegments(
                segmentBytes == null ? next.segmentBytes() : segmentBytes,
                segmentAge == null ? next.segmentAge() : segmentAge);
    }

    private static <V> TopicConfiguration with(
            TopicConfiguration topic, @Nullable V value, BiFunction<TopicConfiguration, V, TopicConfiguration> change) {
        return value == null ? topic : change.apply(topic, value);
    }
}
