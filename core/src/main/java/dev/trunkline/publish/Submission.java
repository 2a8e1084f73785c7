package dev.trunkline.publish;

import dev.trunkline.Receipt;
import dev.trunkline.outbox.Encoded;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** What one caller wants published, together or not at all. */
final class Submission {

    private final List<Encoded> messages;
    private final int weight;
    private final CompletableFuture<List<Receipt>> receipts = new CompletableFuture<>();

    private final boolean awaited;

    /** @param awaited whether its caller does nothing else until it is over */
    Submission(List<Encoded> messages, boolean awaited) {
        this.messages = messages;
        this.awaited = awaited;
        int sum = 0;
        for (Encoded message : messages) {
            sum += message.weight();
        }
        this.weight = sum;
    }

    List<Encoded> messages() {
        return messages;
    }

    boolean isAwaited() {
        return awaited;
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

    /** Whether it may be sent again when nobody knows if it was committed. */
    boolean isRepeatable() {
        return messages.stream().allMatch(message -> message.idempotencyKey() != null);
    }
}
