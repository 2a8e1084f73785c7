package dev.trunkline.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.ConsumerGroup;
import dev.trunkline.Message;
import dev.trunkline.Receipt;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.UnconfiguredTopics;
import dev.trunkline.testing.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An application that has only known queues takes up groups, one topic at a time, while it runs. */
@Timeout(60)
class QueueToPubSubTest {

    private final Trunkline trunkline =
            TestDatabase.fresh().options().codec(OrderEvent.CODEC).open();
    private final List<String> handled = new CopyOnWriteArrayList<>();

    @AfterEach
    void close() {
        trunkline.close();
    }

    private Receipt publish(String topic, String order) {
        return trunkline.publisher().publish(Message.of(topic, new OrderEvent(order, 1)));
    }

    private void assertHandled(Receipt receipt, ConsumerGroup<OrderEvent> by) throws InterruptedException {
        assertThat(by.await(receipt, Duration.ofSeconds(30))).isTrue();
    }

    @Test
    void a_queue_nobody_configured_is_configured_as_what_it_was_and_events_go_to_every_service() throws Exception {
        // Before: a topic that nobody has configured is a queue.
        trunkline.topics().unconfigured(UnconfiguredTopics.QUEUE);
        Receipt first = publish("orders", "order-1");
        ConsumerGroup<OrderEvent> consumer = trunkline
                .createConsumer("orders", OrderEvent.class)
                .addConsumer(
                        "worker", delivery -> handled.add(delivery.payload().orderId()))
                .start(SubscriptionOptions.fromBeginning());
        assertHandled(first, consumer);

        // After: it is configured as one. Its consumers go on.
        trunkline.topics().configure(TopicConfiguration.queue("orders"));
        assertHandled(publish("orders", "order-2"), consumer);
        assertThat(handled).containsExactly("order-1", "order-2");

        // New: a topic for events, which every service gets.
        trunkline.topics().configure(TopicConfiguration.pubSub("orders.events").withRetention(Duration.ofHours(24)));
        ConsumerGroup<OrderEvent> service1 = start("service-1", "orders.events");
        ConsumerGroup<OrderEvent> service2 = start("service-2", "orders.events");
        Receipt event = publish("orders.events", "order-3");
        assertHandled(event, service1);
        assertHandled(event, service2);
        assertThat(handled).containsExactlyInAnyOrder("order-1", "order-2", "service-1: order-3", "service-2: order-3");
    }

    private ConsumerGroup<OrderEvent> start(String group, String topic) {
        return trunkline
                .createConsumerGroup(group, topic, OrderEvent.class)
                .addConsumer(
                        "worker",
                        delivery ->
                                handled.add(group + ": " + delivery.payload().orderId()))
                .start(SubscriptionOptions.fromNow());
    }
}
