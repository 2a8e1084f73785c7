package dev.trunkline.publish;

import dev.trunkline.Receipt;
import dev.trunkline.outbox.Encoded;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** What one caller wants published, together or not at all. */
final class Submission {

    private final List<Encoded> messages;
    private final int weight;
    private final CompletableFuture<List<Receipt>> receipts = new CompletableFuture<>();

    private final boolean ordered;

    /** @param ordered whether later calls may follow before this one is over, and must not overtake it */
    Submission(List<Encoded> messages, boolean ordered) {
        this.messages = messages;
        this.ordered = ordered;
        int sum = 0;
        for (Encoded message : messages) {
            sum += message.weight();
        }
        this.weight = sum;
    }

    List<Encoded> messages() {
        return messages;
    }

    /** Whether its caller does nothing else until it is over. */
    boolean isAwaited() {
        return !ordered;
    }

    int size() {
        return messages.size();
    }

    int weight() {
        return weight;
    }

    CompletableFuture<List<Receipt>> receipts() {
        return receipts;
    }

    /** Whether a message of it must wait for one of these keys. */
    boolean needsAny(Set<String> keys) {
        if (keys.isEmpty()) {
            return false;
        }
        for (Encoded message : messages) {
            if (message.key() != null && keys.contains(message.key())) {
                return true;
            }
        }
        return false;
    }

    /** Adds the keys that others must wait for. */
    void addKeysTo(Set<String> keys) {
        if (ordered) {
            for (Encoded message : messages) {
                if (message.key() != null) {
                    keys.add(message.key());
                }
            }
        }
    }

    void removeKeysFrom(Set<String> keys) {
        if (ordered) {
            messages.forEach(message -> keys.remove(message.key()));
        }
    }

    /** Whether it may be sent again when nobody knows if it was committed. */
    boolean isRepeatable() {
        return messages.stream().allMatch(message -> message.idempotencyKey() != null);
    }
}
