package dev.trunkline.jackson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.trunkline.InvalidMessageException;
import dev.trunkline.LogMessage;
import dev.trunkline.Message;
import dev.trunkline.Receipt;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.embedded.EmbeddedPostgres;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class PublishingObjectsTest {

    record OrderPlaced(long number, Instant at) {}

    @Test
    void an_object_is_published_as_json_and_decoded_equal() {
        try (EmbeddedPostgres postgres =
                        EmbeddedPostgres.temporary().unsafeFast().start();
                // Without background work what is published is in the log at once.
                Trunkline trunkline = Trunkline.builder()
                        .url(postgres.jdbcUrl(), postgres.user(), postgres.password())
                        .backgroundWork(false)
                        .open()) {
            trunkline.topics().create(TopicConfiguration.queue("orders"));
            OrderPlaced order = new OrderPlaced(42, Instant.parse("2026-11-15T21:00:00Z"));

            Receipt receipt =
                    trunkline.publisher().publish(Message.of("orders", order).withKey("customer-7"));

            LogMessage message = trunkline
                    .log()
                    .read("orders", receipt.partition().orElseThrow(), 0, 1)
                    .getFirst();
            assertThat(message.contentType()).isEqualTo("application/json");
            assertThat(message.text()).isEqualTo("{\"number\":42,\"at\":\"2026-11-15T21:00:00Z\"}");
            assertThat(trunkline.codec().decode(message.payload(), OrderPlaced.class))
                    .isEqualTo(order);
            assertThatExceptionOfType(InvalidMessageException.class)
                    .isThrownBy(() -> trunkline.publisher().publish(Message.of("orders", new Object())));
        }
    }
}
