package dev.trunkline;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A message as it lies in the log.
 *
 * @param topic its topic
 * @param partition its partition
 * @param priority its priority; each has a log of its own
 * @param offset its place in partition and priority: dense, gapless, never given twice
 * @param id its id, as in the {@link Receipt}
 * @param unit the id that all messages of its publisher's transaction share in this partition
 * @param unitEnd whether it is the last of them in this partition
 * @param key its key, if it has one
 * @param headers its headers
 * @param contentType what the payload is
 * @param correlationId its correlation id, if it has one
 * @param publishedAt when it was published
 * @param appendedAt when it was given its offset; never runs backwards within a partition
 * @param payload its bytes, exactly as they were published. Not copied: do not change them
 */
@SuppressWarnings("ArrayRecordComponent") // a copy per access would cost every reader; messages are not compared
public record LogMessage(
        String topic,
        int partition,
        Priority priority,
        long offset,
        long id,
        long unit,
        boolean unitEnd,
        @Nullable String key,
        Map<String, String> headers,
        String contentType,
        @Nullable String correlationId,
        Instant publishedAt,
        Instant appendedAt,
        byte[] payload) {

    /** The payload as UTF-8 text. */
    public String text() {
        return new String(payload, StandardCharsets.UTF_8);
    }

    @Override
    public String toString() {
        return topic + "/" + partition + "@" + offset;
    }
}
