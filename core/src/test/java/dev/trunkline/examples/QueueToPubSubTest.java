package dev.trunkline.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import dev.trunkline.ConsumerGroup;
import dev.trunkline.Handler;
import dev.trunkline.Message;
import dev.trunkline.Receipt;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.UnconfiguredTopics;
import dev.trunkline.testing.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An application that has only known queues takes up groups, one topic at a time, while it runs. */
@Timeout(300)
class QueueToPubSubTest {

    private final Trunkline trunkline =
            TestDatabase.fresh().options().codec(OrderEvent.CODEC).open();
    private final Map<String, List<String>> handled = new ConcurrentHashMap<>();
    private final Handler<OrderEvent> handler =
            delivery -> handled.computeIfAbsent(delivery.group(), group -> new CopyOnWriteArrayList<>())
                    .add(delivery.payload().orderId());

    @AfterEach
    void close() {
        trunkline.close();
    }

    @Test
    void a_queue_that_nobody_configured_goes_on_when_it_is_and_events_go_to_every_service_beside_it() throws Exception {
        // Before: a topic that nobody has configured is a queue.
        trunkline.topics().unconfigured(UnconfiguredTopics.QUEUE);
        Receipt first = publish("orders", "order-1");
        ConsumerGroup<OrderEvent> consumer = trunkline
                .createConsumer("orders", OrderEvent.class)
                .addConsumer("worker", handler)
                .start(SubscriptionOptions.fromBeginning());
        assertHandled(first, consumer);

        // After: it is configured as one. Its consumers go on.
        trunkline.topics().configure(TopicConfiguration.queue("orders"));
        assertHandled(publish("orders", "order-2"), consumer);

        // New: a topic for events, which every service gets.
        trunkline.topics().configure(TopicConfiguration.pubSub("orders.events").withRetention(Duration.ofHours(24)));
        ConsumerGroup<OrderEvent> group1 = trunkline
                .createConsumerGroup("service-1", "orders.events", OrderEvent.class)
                .addConsumer("worker", handler)
                .start(SubscriptionOptions.fromNow());
        ConsumerGroup<OrderEvent> group2 = trunkline
                .createConsumerGroup("service-2", "orders.events", OrderEvent.class)
                .addConsumer("worker", handler)
                .start(SubscriptionOptions.fromNow());
        Receipt event = publish("orders.events", "order-3");
        assertHandled(event, group1);
        assertHandled(event, group2);

        assertThat(handled)
                .containsOnly(
                        entry("shared", List.of("order-1", "order-2")),
                        entry("service-1", List.of("order-3")),
                        entry("service-2", List.of("order-3")));
    }

    private Receipt publish(String topic, String order) {
        return trunkline.publisher().publish(Message.of(topic, new OrderEvent(order, 1)));
    }

    private static void assertHandled(Receipt receipt, ConsumerGroup<OrderEvent> by) throws InterruptedException {
        assertThat(by.await(receipt, Duration.ofSeconds(60))).isTrue();
    }
}
