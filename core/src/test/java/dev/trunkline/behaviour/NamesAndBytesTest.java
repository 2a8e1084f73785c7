package dev.trunkline.behaviour;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.LogMessage;
import dev.trunkline.Message;
import dev.trunkline.Ordering;
import dev.trunkline.Priority;
import dev.trunkline.Receipt;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.TopicSemantics;
import dev.trunkline.Trunkline;
import dev.trunkline.testing.Logs;
import dev.trunkline.testing.TestDatabase;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** F28 and F29: names and payloads come back exactly as they were given. */
class NamesAndBytesTest {

    private final TestDatabase database = TestDatabase.fresh();
    private final Trunkline trunkline = database.open();

    @AfterEach
    void close() {
        trunkline.close();
    }

    @Test
    void names_from_hell_are_data() {
        List<String> names = List.of(
                " ",
                "'",
                "\"",
                "\\",
                "%",
                "a.b.c",
                "../../etc/passwd",
                "%00",
                "x'; drop schema trunkline cascade; --",
                "$$",
                "{}",
                "null",
                "NULL",
                "select",
                "Orders",
                "orders",
                "ORDERS",
                "é",
                "e\u0301",
                "שלום",
                "\u202eevil",
                "🦄",
                "👩‍👩‍👧‍👦",
                "x".repeat(63),
                "x".repeat(64),
                "x".repeat(255),
                "🦄".repeat(255),
                "\u00a0",
                "\ufeff",
                "\uffff");
        names.forEach(name -> trunkline
                .topics()
                .create(TopicConfiguration.queue(name)
                        .withPartitions(2)
                        .withNamespace(name)
                        .withTask(name)));
        assertThat(trunkline.topics().list())
                .extracting(TopicConfiguration::name)
                .containsExactlyInAnyOrderElementsOf(names);
        for (String name : names) {
            trunkline
                    .publisher()
                    .publish(Message.of(name, name)
                            .withKey(name)
                            .withHeader(name, name)
                            .withCorrelationId(name)
                            .withIdempotencyKey(name));
            assertThat(Logs.all(trunkline, name)).singleElement().satisfies(message -> {
                assertThat(message.topic()).isEqualTo(name);
                assertThat(message.text()).isEqualTo(name);
                assertThat(message.key()).isEqualTo(name);
                assertThat(message.headers()).isEqualTo(Map.of(name, name));
                assertThat(message.correlationId()).isEqualTo(name);
            });
            assertThat(trunkline.topics().find(name).orElseThrow().namespace()).contains(name);
        }
        names.forEach(trunkline.topics()::drop);
        assertThat(trunkline.topics().list()).isEmpty();
        assertThat(
                        database.number(
                                "select count(*) from pg_tables where schemaname = 'trunkline' and tablename ~ '^segment_[0-9]'"))
                .isZero();
    }

    @Test
    void payloads_are_byte_exact_by_every_way() throws Exception {
        trunkline.topics().create(TopicConfiguration.queue("t").withPartitions(1));
        byte[] random = new byte[1024 * 1024];
        new Random(1).nextBytes(random);
        List<byte[]> payloads = Stream.of(
                        new byte[0],
                        new byte[] {0},
                        new byte[] {(byte) 0xff, (byte) 0xfe, 0, 1},
                        new byte[] {(byte) 0xed, (byte) 0xa0, (byte) 0x80},
                        random,
                        "{\"a\":\"\\u0000\"}".getBytes(StandardCharsets.UTF_8),
                        "[".repeat(10_000).getBytes(StandardCharsets.UTF_8),
                        "1e400".getBytes(StandardCharsets.UTF_8))
                .toList();
        for (byte[] payload : payloads) {
            trunkline.publisher().publish(Message.of("t", payload));
            trunkline.publisher().publishAll(List.of(Message.of("t", payload), Message.of("t", payload)));
            try (Connection connection = database.connect()) {
                trunkline.publisher().publish(connection, Message.of("t", payload));
                trunkline.publisher().publishAll(connection, List.of(Message.of("t", payload)));
            }
            trunkline.relayNow();
        }
        List<LogMessage> messages = Logs.all(trunkline, "t");
        assertThat(messages).hasSize(payloads.size() * 5);
        for (int i = 0; i < messages.size(); i++) {
            assertThat(messages.get(i).payload()).as("message %s", i).isEqualTo(payloads.get(i / 5));
        }
    }

    @Test
    void headers_keep_every_character() throws Exception {
        trunkline.topics().create(TopicConfiguration.queue("t").withPartitions(1));
        Map<String, String> headers =
                Map.of("", "", "a\"b", "c\\d", "{", "}", ",", "NULL", "null", "a,b", " ", "\n\t", "🦄", "\\\"{}");
        trunkline.publisher().publish(Message.of("t", "x").withHeaders(headers));
        try (Connection connection = database.connect()) {
            trunkline.publisher().publish(connection, Message.of("t", "x").withHeaders(headers));
        }
        trunkline.relayNow();
        assertThat(Logs.all(trunkline, "t"))
                .hasSize(2)
                .allSatisfy(message -> assertThat(message.headers()).isEqualTo(headers));
    }

    @Test
    void a_hundred_topics_live_side_by_side() {
        List<String> names = IntStream.range(0, 100).mapToObj(i -> "topic " + i).toList();
        names.forEach(name ->
                trunkline.topics().create(TopicConfiguration.pubSub(name).withPartitions(4)));
        names.forEach(name -> trunkline
                .publisher()
                .publishAll(List.of(Message.of(name, "direct " + name), Message.of(name, "direct " + name))));
        names.forEach(name -> database.query("select trunkline.publish(?, ?)", name, "sql " + name));
        assertThat(trunkline.relayNow()).isEqualTo(100);
        assertThat(names)
                .allSatisfy(name -> assertThat(Logs.texts(trunkline, name))
                        .containsExactlyInAnyOrder("direct " + name, "direct " + name, "sql " + name));
        trunkline.topics().drop("topic 7");
        assertThat(Logs.texts(trunkline, "topic 8")).hasSize(3);
    }

    @Test
    void a_topic_is_as_it_was_configured() {
        TopicConfiguration configuration = TopicConfiguration.pubSub("t")
                .withOrdering(Ordering.THROUGHPUT)
                .withPartitions(7)
                .withLanes(3)
                .withNamespace("n")
                .withTask("k")
                .withRetention(Duration.ofDays(3))
                .withMaxPayloadBytes(77)
                .withSegments(1 << 20, Duration.ofMinutes(5));
        trunkline.topics().configure(configuration);
        assertThat(trunkline.topics().find("t")).contains(configuration);
        trunkline
                .topics()
                .configure(configuration.withSemantics(TopicSemantics.QUEUE).withMaxPayloadBytes(78));
        assertThat(trunkline.topics().find("t").orElseThrow().semantics()).isEqualTo(TopicSemantics.QUEUE);
    }

    @Test
    void each_priority_has_a_log_of_its_own() throws Exception {
        trunkline
                .topics()
                .create(TopicConfiguration.queue("t").withPartitions(3).withOrdering(Ordering.THROUGHPUT));
        for (Priority priority : Priority.values()) {
            Receipt receipt = trunkline
                    .publisher()
                    .publish(Message.of("t", priority + " direct").withKey("k").withPriority(priority));
            assertThat(receipt.offset()).hasValue(0);
            try (Connection connection = database.connect()) {
                trunkline
                        .publisher()
                        .publish(
                                connection,
                                Message.of("t", priority + " outbox")
                                        .withKey("k")
                                        .withPriority(priority));
            }
            trunkline.relayNow();
            assertThat(trunkline.log().read("t", receipt.partition().orElseThrow(), priority, 0, 10))
                    .extracting(LogMessage::text)
                    .containsExactly(priority + " direct", priority + " outbox");
        }
        assertThat(database.query("select priority, text from trunkline.messages where topic = 't' order by id"))
                .hasSize(6)
                .contains("-1|LOW direct", "1|HIGH outbox");
    }
}
