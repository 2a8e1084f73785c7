package dev.trunkline.behaviour;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.trunkline.LogMessage;
import dev.trunkline.Message;
import dev.trunkline.PayloadTooLargeException;
import dev.trunkline.Receipt;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.testing.Logs;
import dev.trunkline.testing.TestDatabase;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
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
    void a_delayed_message_comes_when_it_is_due_and_not_before() throws Exception {
        trunkline.publisher().publish(Message.of("orders", "tomorrow").withDelay(Duration.ofDays(1)));
        Instant due = Instant.now().plusMillis(300);
        trunkline.publisher().publish(Message.of("orders", "soon").withDeliverAt(due));
        trunkline.publisher().publish(Message.of("orders", "past").withDeliverAt(Instant.EPOCH.plusSeconds(1)));
        try (Connection connection = database.connect()) {
            trunkline
                    .publisher()
                    .publish(connection, Message.of("orders", "sooner").withDelay(Duration.ofMillis(1)));
        }
        trunkline.publisher().publish(Message.of("orders", "now"));
        Awaitility.await().until(() -> {
            trunkline.relayNow();
            return Logs.texts(trunkline, "orders").size() == 4;
        });
        assertThat(Logs.all(trunkline, "orders"))
                .extracting(LogMessage::text)
                .containsExactlyInAnyOrder("now", "past", "sooner", "soon");
        assertThat(Logs.all(trunkline, "orders"))
                .filteredOn(message -> message.text().equals("soon"))
                .allSatisfy(message -> assertThat(message.appendedAt()).isAfterOrEqualTo(due));
        trunkline.upkeepNow();
        assertThat(database.query("select convert_from(payload, 'UTF8') from trunkline.delayed"))
                .containsExactly("tomorrow");
    }

    @Test
    void a_batch_is_published_as_a_whole_or_not_at_all() {
        List<Message> tooLarge = List.of(
                Message.of("orders", "a"), Message.of("orders", new byte[2 * 1024 * 1024]), Message.of("orders", "c"));
        assertThatThrownBy(() -> trunkline.publisher().publishAll(tooLarge))
                .isInstanceOf(PayloadTooLargeException.class);
        assertThat(Logs.all(trunkline, "orders")).isEmpty();
        List<Receipt> receipts = trunkline
                .publisher()
                .publishAll(IntStream.range(0, 10_000)
                        .mapToObj(i -> Message.of("orders", "m" + i).withKey("k" + i % 100))
                        .toList());
        assertThat(receipts).hasSize(10_000);
        Map<Long, LogMessage> byId =
                Logs.all(trunkline, "orders").stream().collect(Collectors.toMap(LogMessage::id, message -> message));
        assertThat(receipts).allSatisfy(receipt -> {
            LogMessage message = byId.get(receipt.id());
            assertThat(receipt.offset()).hasValue(message.offset());
            assertThat(receipt.partition()).hasValue(message.partition());
        });
        Logs.assertDense(trunkline, "orders");
    }

    @Test
    void many_callers_share_batches_and_each_gets_its_own_receipt() {
        List<CompletableFuture<Receipt>> futures = IntStream.range(0, 5_000)
                .mapToObj(i -> trunkline
                        .publisher()
                        .publishAsync(Message.of("orders", "m" + i).withKey("k" + i % 50)))
                .toList();
        Map<Long, LogMessage> byId = new HashMap<>();
        List<Receipt> receipts = futures.stream().map(CompletableFuture::join).toList();
        trunkline.relayNow();
        Logs.all(trunkline, "orders").forEach(message -> byId.put(message.id(), message));
        for (int i = 0; i < receipts.size(); i++) {
            assertThat(byId.get(receipts.get(i).id()).text()).isEqualTo("m" + i);
        }
        assertThat(byId).hasSize(5_000);
        for (int key = 0; key < 50; key++) {
            List<Integer> values = Logs.textsOf(trunkline, "orders", "k" + key).stream()
                    .map(text -> Integer.parseInt(text.substring(1)))
                    .toList();
            assertThat(values).isSorted();
        }
    }

    @Test
    void a_topic_that_was_dropped_and_made_anew_with_other_lanes_is_published_to_as_it_is() throws Exception {
        String key = database.query(
                        "select 'k' || i from generate_series(1, 100) i where trunkline.partition_of('k' || i, 4) = 3 limit 1")
                .getFirst();
        trunkline
                .topics()
                .create(TopicConfiguration.queue("again").withPartitions(4).withLanes(2));
        trunkline.publisher().publish(Message.of("again", "before").withKey(key));
        trunkline.topics().drop("again");
        trunkline
                .topics()
                .create(TopicConfiguration.queue("again").withPartitions(4).withLanes(4));
        trunkline.publisher().publish(Message.of("again", "first").withKey(key));
        try (Connection holder = database.connect()) {
            holder.setAutoCommit(false);
            TestDatabase.query(
                    holder,
                    "select from trunkline.lane l join trunkline.topic t on t.id = l.topic"
                            + " where t.name = 'again' and l.lane = 3 for update of l");
            // The lane of the key is taken: its next message must not get an offset beside it.
            assertThat(trunkline
                            .publisher()
                            .publish(Message.of("again", "second").withKey(key))
                            .offset())
                    .isEmpty();
        }
        trunkline.relayNow();
        assertThat(Logs.texts(trunkline, "again")).containsExactly("first", "second");
    }

    /** The enemy: by the lanes of the dropped topic the batch has turns for partitions that a lane does not have, and frames lie upon each other. */
    @Test
    void no_two_messages_get_one_offset_in_a_topic_that_was_made_anew_with_more_lanes() {
        trunkline
                .topics()
                .create(TopicConfiguration.queue("again").withPartitions(4).withLanes(1));
        trunkline.publisher().publish(Message.of("again", "before"));
        trunkline.topics().drop("again");
        trunkline
                .topics()
                .create(TopicConfiguration.queue("again").withPartitions(4).withLanes(4));
        List<Receipt> receipts = trunkline
                .publisher()
                .publishAll(IntStream.range(0, 37)
                        .mapToObj(i -> Message.of("again", "%100d".formatted(i)))
                        .toList());
        assertThat(receipts)
                .extracting(
                        receipt -> receipt.partition().orElseThrow(),
                        receipt -> receipt.offset().orElseThrow())
                .doesNotHaveDuplicates();
        assertThat(Logs.texts(trunkline, "again"))
                .containsExactlyInAnyOrderElementsOf(
                        IntStream.range(0, 37).mapToObj("%100d"::formatted).toList());
        Logs.assertDense(trunkline, "again");
    }

    @Test
    void a_batch_with_more_turns_than_a_lane_has_partitions_is_refused() {
        trunkline
                .topics()
                .create(TopicConfiguration.queue("narrow").withPartitions(4).withLanes(4));
        assertThatThrownBy(
                        () -> database.query(
                                "select trunkline.append('narrow', 4, 4, false, 1, null, array[-2, -1], array[1, 2], array[1, 1],"
                                        + " array[false, false], array['a', 'b']::bytea[], array[2, 4], array[1, 1], null, null, array['x'], null, null, null, null, null)"))
                .hasMessageContaining(
                        "a batch in 2 turns does not fit lane 0 of topic \"narrow\", which has 1 partitions");
        assertThat(Logs.texts(trunkline, "narrow")).isEmpty();
    }

    @Test
    void closing_publishes_what_was_accepted() {
        Trunkline other = database.open();
        List<CompletableFuture<Receipt>> futures = IntStream.range(0, 1_000)
                .mapToObj(i -> other.publisher().publishAsync(Message.of("orders", "m" + i)))
                .toList();
        other.close();
        assertThat(futures).allSatisfy(future -> assertThat(future).isCompleted());
        trunkline.relayNow();
        assertThat(Logs.all(trunkline, "orders")).hasSize(1_000);
    }
}
