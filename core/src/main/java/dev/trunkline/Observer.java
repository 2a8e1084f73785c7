package dev.trunkline;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Told what this process does, for metrics and traces: see {@link Trunkline.Builder#observer}. Called on the threads that do it: be quick. What it
 * throws is logged and changes nothing.
 *
 * <p>What begins and ends is opened and closed by it: it may measure how long that took, and put into a message what a handler is to find.
 */
public interface Observer {

    /** Does nothing. */
    Observer NONE = new Observer() {};

    /** A call is about to publish messages of one topic; on its thread. */
    default Publishing publishing(String topic, int messages) {
        return Publishing.NONE;
    }

    /** A call that publishes. */
    interface Publishing {

        /** Nobody looks. */
        Publishing NONE = new Publishing() {};

        /** The message as it is to be published, say with headers added; on the thread of the call. */
        default Message carrying(Message message) {
            return message;
        }

        /**
         * The messages were published, or not; within the caller's transaction: were inserted, or not. On any thread.
         *
         * @param problem null: they were
         */
        default void over(@Nullable Throwable problem) {}
    }

    /** A handler is about to be called; on its thread. */
    default Attempt handling(Delivery<?> delivery) {
        return Attempt.NONE;
    }

    /** A call of a handler. */
    interface Attempt {

        /** Nobody looks. */
        Attempt NONE = new Attempt() {};

        /**
         * The handler has returned, or thrown; on its thread. What becomes of the message then is told to the {@link #listeners}.
         *
         * @param problem null: it has returned
         */
        default void over(@Nullable Throwable problem) {}
    }

    /** Who is to be told what happens in a group that is started in this process: its {@link GroupListener}s, besides its own. */
    default List<GroupListener> listeners(String group, String topic) {
        return List.of();
    }

    /** Messages of a topic were given their offsets. */
    default void relayed(String topic, long messages, Duration took) {}

    /**
     * The steps of upkeep were run.
     *
     * @param problem null: none has failed
     */
    default void upkeep(Duration took, @Nullable Throwable problem) {}

    /** Notifications of other processes arrive, or do not: then what they publish is noticed at the poll interval. Told where somebody waits for messages. */
    default void notified(boolean arriving) {}
}
