package dev.trunkline;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A message that a group has given up.
 *
 * @param id its number among the dead letters
 * @param partition where the message lay
 * @param priority where the message lay: each level has offsets of its own
 * @param offset where the message lay
 * @param messageId the message's id
 * @param key the message's key, if it has one
 * @param headers the message's headers
 * @param contentType what the payload is
 * @param payload the message's bytes
 * @param attempts how often it was tried
 * @param error what the last attempt failed with
 * @param stack the head of its stack trace
 * @param history when each attempt failed, with what, and when it was redriven
 * @param buriedAt when it was given up
 * @param decided whether it is to be redriven or discarded, which the owner of its partition will do
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record DeadLetter(
        long id,
        int partition,
        Priority priority,
        long offset,
        long messageId,
        @Nullable String key,
        Map<String, String> headers,
        String contentType,
        byte[] payload,
        int attempts,
        String error,
        String stack,
        List<String> history,
        Instant buriedAt,
        boolean decided) {

    /** The payload as UTF-8 text. */
    public String text() {
        return new String(payload, StandardCharsets.UTF_8);
    }
}
