package dev.trunkline.server.topics;

import dev.trunkline.CompletionTrackingMode;
import dev.trunkline.Keeping;
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
        @Nullable CompletionTrackingMode tracking,
        @Nullable Duration unheard,
        @Nullable Boolean refuseUnheard,
        @Nullable Duration zombieTtl,
        @Nullable Duration hardCap) {

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
        next = with(next, tracking, TopicConfiguration::withTracking).withKeeping(keeping(next.keeping()));
        return next.withSegments(
                segmentBytes == null ? next.segmentBytes() : segmentBytes,
                segmentAge == null ? next.segmentAge() : segmentAge);
    }

    private Keeping keeping(Keeping now) {
        return new Keeping(
                unheard == null ? now.unheard() : unheard,
                refuseUnheard == null ? now.refuseUnheard() : refuseUnheard,
                zombieTtl == null ? now.zombieTtl() : zombieTtl,
                hardCap == null ? now.hardCap() : hardCap);
    }

    private static <V> TopicConfiguration with(
            TopicConfiguration topic, @Nullable V value, BiFunction<TopicConfiguration, V, TopicConfiguration> change) {
        return value == null ? topic : change.apply(topic, value);
    }
}
