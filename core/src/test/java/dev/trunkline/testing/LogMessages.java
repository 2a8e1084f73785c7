package dev.trunkline.testing;

import dev.trunkline.LogMessage;
import dev.trunkline.Priority;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Messages as they are read, where nothing but their place matters. */
public final class LogMessages {

    private LogMessages() {}

    /** A message of partition 0, a unit of its own. */
    public static LogMessage at(long offset, @Nullable String key) {
        return at(offset, key, true, 0);
    }

    public static LogMessage at(long offset, @Nullable String key, boolean unitEnd, int bytes) {
        return new LogMessage(
                "t",
                0,
                Priority.NORMAL,
                offset,
                offset,
                offset,
                unitEnd,
                key,
                Map.of(),
                "text/plain",
                null,
                Instant.EPOCH,
                Instant.EPOCH,
                new byte[bytes]);
    }
}
