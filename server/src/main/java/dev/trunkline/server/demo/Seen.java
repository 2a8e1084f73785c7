package dev.trunkline.server.demo;

import org.jspecify.annotations.Nullable;

/**
 * What the reader found in the log.
 *
 * @param at after it was read
 */
record Seen(Order order, @Nullable String key, int partition, long offset, long at) {

    @Override
    public String toString() {
        return order.id() + " at offset " + offset + " of partition " + partition;
    }
}
