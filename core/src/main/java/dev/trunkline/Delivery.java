package dev.trunkline;

import org.jspecify.annotations.Nullable;

/**
 * A message on its way to a handler.
 *
 * @param message the message as it lies in the log
 * @param payload its payload, decoded
 * @param group the name of the group
 * @param attempt how often it was delivered, counted by failures that were recorded: 1 for the first time
 * @param epoch grows with every change of the partition's owner: with partition and offset, a fencing token for other systems
 * @param <T> what payloads are decoded to
 */
public record Delivery<T>(LogMessage message, T payload, String group, int attempt, long epoch) {

    public @Nullable String key() {
        return message.key();
    }

    @Override
    public String toString() {
        return message + " for " + group + ", attempt " + attempt;
    }
}
