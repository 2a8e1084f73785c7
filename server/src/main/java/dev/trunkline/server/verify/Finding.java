package dev.trunkline.server.verify;

import org.jspecify.annotations.Nullable;

/**
 * Something that must not be.
 *
 * @param topic null: it belongs to none
 * @param partition null: it is about the whole topic
 * @param priority 0 is normal
 * @param from the first offset that it is about
 * @param to the first behind them; null: nobody knows
 */
record Finding(
        @Nullable String topic,
        @Nullable Integer partition,
        @Nullable Integer priority,
        @Nullable Long from,
        @Nullable Long to,
        String problem) {

    /** On one line. */
    String text() {
        StringBuilder text = new StringBuilder();
        if (topic != null) {
            text.append("topic ").append(topic);
        }
        if (partition != null) {
            text.append(" partition ").append(partition);
        }
        if (priority != null && priority != 0) {
            text.append(" priority ").append(priority);
        }
        if (from != null) {
            text.append(" offsets ").append(from).append(" up to ").append(to == null ? "the end" : to);
        }
        return (text.isEmpty() ? "" : text + ": ") + problem;
    }
}
