package dev.trunkline;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A place in a topic: where a new group begins, or where one is moved to. It is resolved to offsets once, when the group is made or moved.
 *
 * @param mode what kind of place; null: what the installation has chosen for groups that do not say
 * @param time of {@link Mode#TIMESTAMP}
 * @param lookBack of {@link Mode#NOW}: so much of what came before belongs to it
 * @param number the offset, or the message's id
 */
public record Start(
        @Nullable Mode mode,
        @Nullable Instant time,
        @Nullable Duration lookBack,
        @Nullable Long number) {

    /** Kinds of places. */
    public enum Mode {
        /** What is published from now on. */
        NOW,
        /** The oldest message that is kept. */
        BEGINNING,
        /** The first message of each partition that was appended at that time or later. */
        TIMESTAMP,
        /** This offset in every partition, or its first or its end where that is nearer. */
        OFFSET,
        /** A message; in other partitions, what was appended when it was or later. */
        MESSAGE
    }

    /** What PostgreSQL and calendars agree on. */
    private static final Instant FIRST = Instant.parse("0001-01-01T00:00:00Z");

    private static final Instant LAST = Instant.parse("9999-12-31T23:59:59Z");
    private static final String OFFSET_PREFIX = "offset:";
    private static final String MESSAGE_PREFIX = "message:";

    /** The group of a queue at the beginning, others where the installation has chosen: see {@link Topics#defaultStart}. */
    public static Start byDefault() {
        return new Start(null, null, null, null);
    }

    public static Start now() {
        return new Start(Mode.NOW, null, null, null);
    }

    /** Now, and what was appended so shortly before. */
    public static Start now(Duration lookBack) {
        if (lookBack.isNegative()) {
            throw new IllegalArgumentException("a look back of " + lookBack + " is not possible: use zero or more");
        }
        return new Start(Mode.NOW, null, lookBack, null);
    }

    public static Start beginning() {
        return new Start(Mode.BEGINNING, null, null, null);
    }

    public static Start at(Instant time) {
        if (time.isBefore(FIRST) || time.isAfter(LAST)) {
            throw new IllegalArgumentException(time + " is no time to start at: use one from " + FIRST + " to " + LAST);
        }
        return new Start(Mode.TIMESTAMP, time, null, null);
    }

    public static Start offset(long offset) {
        if (offset < 0) {
            throw new IllegalArgumentException("offset " + offset + " does not exist: use zero or more");
        }
        return new Start(Mode.OFFSET, null, null, offset);
    }

    /** A message, by the id that its receipt has. */
    public static Start message(long id) {
        return new Start(Mode.MESSAGE, null, null, id);
    }

    /**
     * Reads {@code now} (or {@code new}, {@code end}), {@code beginning} (or {@code all}), {@code offset:N}, {@code message:ID}, or a time with its
     * zone, as in {@code 2026-11-16T08:00:00Z}.
     *
     * @throws IllegalArgumentException if it is none of these
     */
    public static Start parse(String text) {
        try {
            return switch (text.toLowerCase(Locale.ROOT)) {
                case "now", "new", "end" -> now();
                case "beginning", "all" -> beginning();
                default -> {
                    if (text.startsWith(OFFSET_PREFIX)) {
                        yield offset(Long.parseLong(text.substring(OFFSET_PREFIX.length())));
                    }
                    if (text.startsWith(MESSAGE_PREFIX)) {
                        yield message(Long.parseLong(text.substring(MESSAGE_PREFIX.length())));
                    }
                    yield at(OffsetDateTime.parse(text).toInstant());
                }
            };
        } catch (DateTimeException | NumberFormatException e) {
            throw new IllegalArgumentException(
                    "\"" + text
                            + "\" is no place to start: use now, beginning, offset:N, message:ID, or a time with its zone,"
                            + " such as 2026-11-16T08:00:00Z",
                    e);
        }
    }
}
