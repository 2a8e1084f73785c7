package dev.trunkline.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.Message;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.testing.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An order is of interest to three services: each gets it, whatever the others do. */
@Timeout(300)
class FanOutTest {

    private final Trunkline trunkline =
            TestDatabase.fresh().options().codec(OrderEvent.CODEC).open();
    private final List<OrderEvent> emails = new CopyOnWriteArrayList<>();
    private final List<OrderEvent> figures = new CopyOnWriteArrayList<>();
    private final List<OrderEvent> stock = new CopyOnWriteArrayList<>();

    @AfterEach
    void close() {
        trunkline.close();
    }

    @Test
    void every_service_gets_every_order() {
        trunkline.topics().configure(TopicConfiguration.pubSub("orders.events").withRetention(Duration.ofHours(24)));
        trunkline
                .createConsumerGroup("email-service", "orders.events", OrderEvent.class)
                .addConsumer("email-1", delivery -> emails.add(delivery.payload()))
                .start(SubscriptionOptions.fromNow());
        trunkline
                .createConsumerGroup("analytics-service", "orders.events", OrderEvent.class)
                .addConsumer("analytics-1", delivery -> figures.add(delivery.payload()))
                .start(SubscriptionOptions.fromNow());
        trunkline
                .createConsumerGroup("inventory-service", "orders.events", OrderEvent.class)
                .addConsumer("inventory-1", delivery -> stock.add(delivery.payload()))
                .start(SubscriptionOptions.fromNow());
        trunkline.publisher().publish(Message.of("orders.events", new OrderEvent("order-1", 1)));

        Awaitility.await()
                .untilAsserted(() -> assertThat(List.of(emails, figures, stock))
                        .containsOnly(List.of(new OrderEvent("order-1", 1))));
    }
}
