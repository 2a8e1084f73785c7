package dev.trunkline.checker;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * One line of a journal: the time in nanoseconds, the kind, and what the kind says, with tabs between. A call is anything that begins and
 * ends: a publish, the run of a handler, a fault. One that has no end counts as unknown.
 */
public sealed interface Event {

    /** When, by the clock of the machine. */
    long time();

    /** How a call ended. */
    enum Outcome {
        OK,
        FAILED,
        UNKNOWN
    }

    /** How a message is published. */
    enum Way {
        /** At once. */
        PUBLISH,
        /** To be appended at a later time: its place among others is not promised. */
        LATER,
        /** In a transaction that also writes a row of business, which is told by {@link Business}. */
        WORK
    }

    /** What is to be published. */
    record Content(@Nullable String key, String value) {}

    /** A message is to be published by a call; others of the same call go with it, all or none. */
    record Publish(
            long time, String call, String topic, @Nullable String key, String value, Way way) implements Event {}

    /** A call has ended. */
    record End(long time, String call, Outcome outcome) implements Event {}

    /** A handler is called with a message; others of the same call come with it. */
    record Start(
            long time,
            String call,
            String group,
            String member,
            long epoch,
            String topic,
            int partition,
            long offset,
            @Nullable String key,
            String value)
            implements Event {}

    /** Somebody who reads a partition in order has come to a message. */
    record Read(long time, String reader, String topic, int partition, long offset, String value) implements Event {}

    /** What the log holds in the end. */
    record Logged(
            long time,
            String topic,
            int partition,
            long offset,
            @Nullable String key,
            String value) implements Event {}

    /** The first offset of a partition that is still there. */
    record First(long time, String topic, int partition, long offset) implements Event {}

    /**
     * A group has, by what is recorded, done everything below an offset.
     *
     * @param reads it needs nothing of the log below that: what it has not done there, it has put aside
     */
    record Cursor(long time, String group, String topic, int partition, long offset, long reads) implements Event {

        /** Of a group that puts nothing aside. */
        public Cursor(long time, String group, String topic, int partition, long offset) {
            this(time, group, topic, partition, offset, offset);
        }
    }

    /** From here on a group is owed every message: it has joined, or was moved. */
    record From(long time, String group, String topic, int partition, long offset) implements Event {}

    /** A group is owed nothing any more. */
    record Left(long time, String group, String topic) implements Event {}

    /** Since when something is so, if that is not known. */
    long EVER = Long.MIN_VALUE;

    /**
     * A group was told that it will not get a range, {@code to} not included.
     *
     * @param since from when on it is so, or some time before that: what needs it, and came earlier, was wrong
     */
    record Gap(long time, String group, String topic, int partition, long from, long to, long since) implements Event {

        /** One of which is not known since when it is. */
        public Gap(long time, String group, String topic, int partition, long from, long to) {
            this(time, group, topic, partition, from, to, EVER);
        }
    }

    /**
     * A message was given up by a group.
     *
     * @param since from when on what follows on its key may go on, or some time before that: what came earlier was wrong
     */
    record Letter(long time, String group, String topic, int partition, long offset, long since) implements Event {

        /** One of which is not known since when it is. */
        public Letter(long time, String group, String topic, int partition, long offset) {
            this(time, group, topic, partition, offset, EVER);
        }
    }

    /** The effect of a message is in the database. The time is that of its commit by the database's clock, in any unit. */
    record Effect(long time, String group, String topic, int partition, long offset, long epoch, String value)
            implements Event {}

    /** What an owner has recorded was accepted. The time is that of the commit by the database's clock, in the unit of {@link Effect}. */
    record Accepted(long time, String group, String topic, int partition, long epoch) implements Event {}

    /** The handlers of a group write effects in the transaction of their progress: every message that it is owed has one in the end. */
    record Transactional(long time, String group, String topic) implements Event {}

    /** In the end, the whole log was read: what is not told by {@link Logged} is not there. */
    record Listed(long time) implements Event {}

    /** A row of business is in the database in the end. */
    record Business(long time, String topic, String value) implements Event {}

    /**
     * Something bad is done to the system. It is over when the call ends.
     *
     * @param victim the member that it is done to, if nobody else feels it
     */
    record Fault(
            long time, String call, String name, @Nullable String victim) implements Event {

        /** One that anybody may feel. */
        public Fault(long time, String call, String name) {
            this(time, call, name, null);
        }
    }

    /** Nothing is published from now on and no fault goes on: what is owed is to be handled soon. */
    record Stopped(long time) implements Event {}

    /** The line of this event. */
    default String line() {
        return switch (this) {
            case Publish e -> join(e.time, word(e.way), e.call, e.topic, orEmpty(e.key), e.value);
            case End e -> join(e.time, word(e.outcome), e.call);
            case Start e ->
                join(
                        e.time,
                        "start",
                        e.call,
                        e.group,
                        e.member,
                        e.epoch,
                        e.topic,
                        e.partition,
                        e.offset,
                        orEmpty(e.key),
                        e.value);
            case Read e -> join(e.time, "read", e.reader, e.topic, e.partition, e.offset, e.value);
            case Logged e -> join(e.time, "logged", e.topic, e.partition, e.offset, orEmpty(e.key), e.value);
            case First e -> join(e.time, "first", e.topic, e.partition, e.offset);
            case Cursor e -> join(e.time, "cursor", e.group, e.topic, e.partition, e.offset, e.reads);
            case From e -> join(e.time, "from", e.group, e.topic, e.partition, e.offset);
            case Left e -> join(e.time, "left", e.group, e.topic);
            case Gap e -> join(e.time, "gap", e.group, e.topic, e.partition, e.from, e.to, since(e.since));
            case Letter e -> join(e.time, "letter", e.group, e.topic, e.partition, e.offset, since(e.since));
            case Effect e -> join(e.time, "effect", e.group, e.topic, e.partition, e.offset, e.epoch, e.value);
            case Accepted e -> join(e.time, "accepted", e.group, e.topic, e.partition, e.epoch);
            case Transactional e -> join(e.time, "transactional", e.group, e.topic);
            case Listed e -> join(e.time, "listed");
            case Business e -> join(e.time, "business", e.topic, e.value);
            case Fault e -> join(e.time, "fault", e.call, e.name, orEmpty(e.victim));
            case Stopped e -> join(e.time, "stopped");
        };
    }

    /** The event of a line. Fails with what is wrong with it. */
    static Event parse(String line) {
        return new Fields(line).event();
    }

    private static String word(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

    private static String orEmpty(@Nullable String text) {
        return text == null ? "" : "=" + text;
    }

    private static String since(long time) {
        return time == EVER ? "" : Long.toString(time);
    }

    private static String join(long time, String kind, Object... fields) {
        StringBuilder line = new StringBuilder(96).append(time).append('\t').append(kind);
        for (Object field : fields) {
            String text = field.toString();
            if (text.indexOf('\t') >= 0 || text.indexOf('\n') >= 0 || text.indexOf('\r') >= 0) {
                throw new IllegalArgumentException(
                        "a tab or a line's end in \"" + text + "\": a journal has one line per event");
            }
            line.append('\t').append(text);
        }
        return line.toString();
    }

    /** The fields of a line, from left to right. */
    final class Fields {
        private final String line;
        private int at;

        private Fields(String line) {
            this.line = line;
        }

        private Event event() {
            long time = number();
            String kind = text();
            Event event = switch (kind) {
                case "publish" -> new Publish(time, text(), text(), textOrNull(), text(), Way.PUBLISH);
                case "later" -> new Publish(time, text(), text(), textOrNull(), text(), Way.LATER);
                case "work" -> new Publish(time, text(), text(), textOrNull(), text(), Way.WORK);
                case "ok" -> new End(time, text(), Outcome.OK);
                case "failed" -> new End(time, text(), Outcome.FAILED);
                case "unknown" -> new End(time, text(), Outcome.UNKNOWN);
                case "start" ->
                    new Start(
                            time,
                            text(),
                            text(),
                            text(),
                            number(),
                            text(),
                            partition(),
                            number(),
                            textOrNull(),
                            text());
                case "read" -> new Read(time, text(), text(), partition(), number(), text());
                case "logged" -> new Logged(time, text(), partition(), number(), textOrNull(), text());
                case "first" -> new First(time, text(), partition(), number());
                case "cursor" -> new Cursor(time, text(), text(), partition(), number(), number());
                case "from" -> new From(time, text(), text(), partition(), number());
                case "left" -> new Left(time, text(), text());
                case "gap" -> new Gap(time, text(), text(), partition(), number(), number(), since());
                case "letter" -> new Letter(time, text(), text(), partition(), number(), since());
                case "effect" -> new Effect(time, text(), text(), partition(), number(), number(), text());
                case "accepted" -> new Accepted(time, text(), text(), partition(), number());
                case "transactional" -> new Transactional(time, text(), text());
                case "listed" -> new Listed(time);
                case "business" -> new Business(time, text(), text());
                case "fault" -> new Fault(time, text(), text(), textOrNull());
                case "stopped" -> new Stopped(time);
                default -> throw wrong("no event is called \"" + kind + "\"");
            };
            if (at <= line.length()) {
                throw wrong("something follows the last field");
            }
            return event;
        }

        private String text() {
            if (at > line.length()) {
                throw wrong("a field is missing");
            }
            int tab = line.indexOf('\t', at);
            int end = tab < 0 ? line.length() : tab;
            String field = line.substring(at, end);
            at = end + 1;
            return field;
        }

        private @Nullable String textOrNull() {
            String field = text();
            if (!field.isEmpty() && field.charAt(0) != '=') {
                throw wrong("a key or a victim is empty, or follows a \"=\"");
            }
            return field.isEmpty() ? null : field.substring(1);
        }

        private long since() {
            String field = text();
            return field.isEmpty() ? EVER : number(field);
        }

        private long number() {
            return number(text());
        }

        private long number(String field) {
            try {
                return Long.parseLong(field);
            } catch (NumberFormatException e) {
                throw wrong("\"" + field + "\" is no number");
            }
        }

        private int partition() {
            long number = number();
            if (number < 0 || number > Integer.MAX_VALUE) {
                throw wrong(number + " is no partition");
            }
            return (int) number;
        }

        private IllegalArgumentException wrong(String what) {
            return new IllegalArgumentException(what + ": " + line);
        }
    }
}
