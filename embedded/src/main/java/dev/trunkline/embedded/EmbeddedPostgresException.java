package dev.trunkline.embedded;

import org.jspecify.annotations.Nullable;

/** The server could not be unpacked, started, reached or stopped; the message says what was tried and what it said. */
public final class EmbeddedPostgresException extends RuntimeException {
    EmbeddedPostgresException(String message) {
        this(message, null);
    }

    EmbeddedPostgresException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
