package dev.trunkline.testing;

import dev.trunkline.Batch;
import dev.trunkline.PullConsumer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What is popped and acknowledged. */
public final class Popped {

    private Popped() {}

    /** All that there is for a group now. */
    public static List<String> all(PullConsumer<String> consumer) {
        List<String> popped = new ArrayList<>();
        for (Optional<Batch<String>> next = consumer.pop(10, Duration.ofSeconds(30));
                next.isPresent();
                next = consumer.pop(10, Duration.ofSeconds(30))) {
            next.get().deliveries().forEach(delivery -> popped.add(delivery.payload()));
            consumer.ack(next.get().token());
        }
        return popped;
    }
}
