package dev.trunkline.server.topics;

import dev.trunkline.CompletionTrackingMode;
import dev.trunkline.Ordering;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.TopicSemantics;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What can be said of a topic. What is not given stays as it is. */
final class TopicOptions {

    @Option(names = "--semantics", description = "Who gets a message: ${COMPLETION-CANDIDATES}.")
    @Nullable
    TopicSemantics semantics;

    @Option(names = "--ordering", description = "${COMPLETION-CANDIDATES}. Stays for life.")
    @Nullable
    Ordering ordering;

    @Option(names = "--partitions", description = "1 to 1024. Stays for life.")
    @Nullable
    Integer partitions;

    @Option(names = "--lanes", description = "How many appends run at the same time. Stays for life.")
    @Nullable
    Integer lanes;

    @Option(names = "--priority-levels", arity = "0..1", fallbackValue = "true", description = "Stays for life.")
    @Nullable
    Boolean priorityLevels;

    @Option(names = "--namespace", description = "A first word to subscribe by.")
    @Nullable
    String namespace;

    @Option(names = "--task", description = "A second word to subscribe by.")
    @Nullable
    String task;

    @Option(names = "--retention", paramLabel = "DURATION", description = "How long messages are kept, such as P7D.")
    @Nullable
    Duration retention;

    @Option(names = "--max-payload-bytes", description = "The largest payload that is accepted.")
    @Nullable
    Integer maxPayloadBytes;

    @Option(names = "--segment-bytes", description = "The size at which a segment is closed.")
    @Nullable
    Long segmentBytes;

    @Option(names = "--segment-age", paramLabel = "DURATION", description = "The age at which a segment is closed.")
    @Nullable
    Duration segmentAge;

    @Option(
            names = "--tracking",
            description = "How much is remembered of who has handled what: ${COMPLETION-CANDIDATES}.")
    @Nullable
    CompletionTrackingMode tracking;

    @Option(
            names = "--unheard",
            paramLabel = "DURATION",
            description = "How long messages of a pub/sub topic without a group are kept.")
    @Nullable
    Duration unheard;

    @Option(
            names = "--refuse-unheard",
            arity = "0..1",
            fallbackValue = "true",
            description = "Whether such a topic refuses messages instead.")
    @Nullable
    Boolean refuseUnheard;

    @Option(
            names = "--zombie-ttl",
            paramLabel = "DURATION",
            description = "How long a group that is paused, or that nobody serves, holds messages back.")
    @Nullable
    Duration zombieTtl;

    @Option(
            names = "--hard-cap",
            paramLabel = "DURATION",
            description = "The age at which messages go, whoever has not handled them.")
    @Nullable
    Duration hardCap;

    TopicConfiguration applyTo(TopicConfiguration topic) {
        return new TopicSettings(
                        null,
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
                        tracking,
                        unheard,
                        refuseUnheard,
                        zombieTtl,
                        hardCap)
                .applyTo(topic);
    }
}
