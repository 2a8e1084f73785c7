package dev.trunkline;

import java.time.Instant;
import java.util.List;

/**
 * Messages that were popped together, in order, all of one partition and priority.
 *
 * @param token names the batch, in any process
 * @param deliveries its messages, at least one
 * @param expiresAt until when nobody else gets them, by the clock of the database
 * @param <T> what payloads are decoded to
 */
public record Batch<T>(String token, List<Delivery<T>> deliveries, Instant expiresAt) {

    public Batch {
        deliveries = List.copyOf(deliveries);
    }

    @Override
    public String toString() {
        return deliveries.size() + " messages from " + deliveries.getFirst() + " until " + expiresAt;
    }
}
