package dev.trunkline.server.demo;

import dev.trunkline.Delivery;
import dev.trunkline.RetryPolicy;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.Trunkline;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/** The groups of the demo. */
final class Members {

    static final List<String> GROUPS = List.of("email", "analytics", "inventory");
    static final int PARTITIONS = 16;
    static final int ALL_PARTITIONS = GROUPS.size() * PARTITIONS;
    static final int ATTEMPTS = 3;
    /** Short, so that a take-over is seen within the demo. */
    static final Duration LEASE = Duration.ofSeconds(3);

    private Members() {}

    /** Starts a member of each group in this process. */
    static void join(Trunkline trunkline, Notes notes) {
        RetryPolicy retry = new RetryPolicy(ATTEMPTS, Duration.ofMillis(100), Duration.ofMillis(400));
        for (String group : GROUPS) {
            trunkline
                    .createConsumerGroup(group, Order.TOPIC, Order.class)
                    .addConsumer("demo", delivery -> handle(delivery, notes))
                    .start(SubscriptionOptions.fromBeginning().withRetry(retry));
        }
    }

    private static void handle(Delivery<Order> delivery, Notes notes) throws IOException {
        long began = notes.ticket();
        boolean fails =
                delivery.group().equals("inventory") && delivery.payload().poisonous();
        notes.write(delivery, fails, began);
        if (fails) {
            throw new IllegalStateException("there is no such article");
        }
    }
}
