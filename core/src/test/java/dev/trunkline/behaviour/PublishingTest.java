package dev.trunkline.behaviour;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.LogMessage;
import dev.trunkline.Message;
import dev.trunkline.Receipt;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.testing.TestDatabase;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class PublishingTest {

    private final TestDatabase database = TestDatabase.fresh();
    private Trunkline trunkline;

    @BeforeEach
    void open() {
        trunkline = database.open();
        trunkline.topics().create(TopicConfiguration.queue("orders"));
    }

    @AfterEach
    void close() {
        trunkline.close();
    }

    @Test
    void a_message_published_on_its_own_lies_in_the_log_when_publish_returns() {
        Receipt receipt = trunkline
                .publisher()
                .publish(Message.of("orders", "hello")
                        .withKey("k")
                        .withHeader("a", "b")
                        .withCorrelationId("c"));

        assertThat(receipt.offset()).hasValue(0);
        List<LogMessage> messages =
                trunkline.log().read("orders", receipt.partition().orElseThrow(), 0, 10);
        assertThat(messages).singleElement().satisfies(message -> {
            assertThat(message.text()).isEqualTo("hello");
            assertThat(message.key()).isEqualTo("k");
            assertThat(message.headers()).containsExactly(java.util.Map.entry("a", "b"));
            assertThat(message.correlationId()).isEqualTo("c");
            assertThat(message.contentType()).isEqualTo("text/plain");
            assertThat(message.id()).isEqualTo(receipt.id());
            assertThat(message.unitEnd()).isTrue();
        });
    }

    @Test
    void the_three_ways_keep_the_order_of_a_key() throws Exception {
        var publisher = trunkline.publisher();
        for (int i = 0; i < 30; i += 3) {
            publisher.publish(Message.of("orders", "m" + i).withKey("k"));
            try (Connection connection = database.connect()) {
                connection.setAutoCommit(false);
                publisher.publish(
                        connection, Message.of("orders", "m" + (i + 1)).withKey("k"));
                connection.commit();
            }
            publisher.publishAll(List.of(Message.of("orders", "m" + (i + 2)).withKey("k")));
        }
        trunkline.relayNow();
        int partition = publisher
                .publish(Message.of("orders", "end").withKey("k"))
                .partition()
                .orElseThrow();
        assertThat(trunkline.log().read("orders", partition, 0, 100))
                .extracting(LogMessage::text)
                .hasSize(31)
                .startsWith("m0", "m1", "m2", "m3")
                .endsWith("m29", "end");
    }

    @Test
    void a_delayed_message_comes_when_it_is_due() {
        trunkline.publisher().publish(Message.of("orders", "later").withKey("k").withDelay(Duration.ofMillis(50)));
        Receipt now = trunkline.publisher().publish(Message.of("orders", "now").withKey("k"));
        trunkline.relayNow();
        org.awaitility.Awaitility.await().until(() -> trunkline.relayNow() > 0);
        assertThat(trunkline.log().read("orders", now.partition().orElseThrow(), 0, 10))
                .extracting(LogMessage::text)
                .containsExactly("now", "later");
    }
}
