package dev.trunkline.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.Message;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.testing.TestDatabase;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The key is the customer: what one customer orders is handled in order, customers are handled side by side. */
@Timeout(300)
class OrderOfCustomersTest {

    private final Trunkline trunkline =
            TestDatabase.fresh().options().codec(OrderEvent.CODEC).open();

    @AfterEach
    void close() {
        trunkline.close();
    }

    @Test
    void the_orders_of_each_customer_are_handled_in_order() {
        Map<String, List<Integer>> sequences = new ConcurrentHashMap<>();
        trunkline.topics().configure(TopicConfiguration.pubSub("orders"));
        trunkline
                .createConsumerGroup("order-processors", "orders", OrderEvent.class)
                .addConsumer(
                        "consumer-0",
                        delivery -> sequences
                                .computeIfAbsent(delivery.key(), customer -> new CopyOnWriteArrayList<>())
                                .add(delivery.payload().sequence()))
                .start(SubscriptionOptions.fromNow());
        trunkline
                .publisher()
                .publishAll(IntStream.rangeClosed(1, 100)
                        .mapToObj(i -> Message.of("orders", new OrderEvent("order-" + i, i))
                                .withKey("customer-" + i % 10))
                        .toList());

        Awaitility.await()
                .until(() -> sequences.values().stream().mapToInt(List::size).sum() == 100);
        assertThat(sequences)
                .hasSize(10)
                .allSatisfy(
                        (customer, numbers) -> assertThat(numbers).hasSize(10).isSorted());
    }
}
