package dev.trunkline.behaviour;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.trunkline.ClosedException;
import dev.trunkline.InvalidMessageException;
import dev.trunkline.InvalidTopicException;
import dev.trunkline.Message;
import dev.trunkline.Ordering;
import dev.trunkline.PayloadTooLargeException;
import dev.trunkline.Priority;
import dev.trunkline.Publisher;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.TopicExistsException;
import dev.trunkline.Trunkline;
import dev.trunkline.TrunklineException;
import dev.trunkline.UnconfiguredTopics;
import dev.trunkline.UnknownTopicException;
import dev.trunkline.testing.Logs;
import dev.trunkline.testing.TestDatabase;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Bad input gets a clear error, whichever way it comes, and writes nothing. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class BadInputTest {

    private final TestDatabase database = TestDatabase.fresh();
    private final Trunkline trunkline = open();

    private Trunkline open() {
        Trunkline opened = database.open();
        opened.topics().create(TopicConfiguration.queue("t").withMaxPayloadBytes(1000));
        return opened;
    }

    @AfterAll
    void close() {
        trunkline.close();
    }

    static Stream<Arguments> badMessages() {
        Message good = Message.of("t", "x");
        Map<String, String> withNull = new HashMap<>();
        withNull.put("a", null);
        Map<String, String> tooMany = new HashMap<>();
        IntStream.range(0, 100_000).forEach(i -> tooMany.put("h" + i, "v"));
        return Stream.of(
                Arguments.of(
                        "unknown topic",
                        Message.of("nope", "x"),
                        UnknownTopicException.class,
                        "there is no topic \"nope\""),
                Arguments.of(
                        "NUL in the topic",
                        Message.of("a\0b", "x"),
                        InvalidMessageException.class,
                        "the topic contains NUL"),
                Arguments.of(
                        "payload over the limit",
                        Message.of("t", "x".repeat(1001)),
                        PayloadTooLargeException.class,
                        "a payload of 1001 bytes is over the limit of 1000 bytes of topic \"t\""),
                Arguments.of(
                        "lone surrogate as text",
                        Message.of("t", "\ud800"),
                        InvalidMessageException.class,
                        "lone surrogate"),
                Arguments.of(
                        "an object without codec",
                        Message.of("t", Map.of()),
                        InvalidMessageException.class,
                        "there is no codec"),
                Arguments.of(
                        "NUL in the key", good.withKey("a\0"), InvalidMessageException.class, "the key contains NUL"),
                Arguments.of(
                        "lone surrogate in the key",
                        good.withKey("\udc00"),
                        InvalidMessageException.class,
                        "lone surrogate U+DC00"),
                Arguments.of(
                        "key too long",
                        good.withKey("ä".repeat(513)),
                        InvalidMessageException.class,
                        "1026 bytes, over the limit of 1024"),
                Arguments.of(
                        "empty idempotency key",
                        good.withIdempotencyKey(""),
                        InvalidMessageException.class,
                        "idempotency key is empty"),
                Arguments.of(
                        "NUL in a header",
                        good.withHeader("a", "\0"),
                        InvalidMessageException.class,
                        "the header \"a\" contains NUL"),
                Arguments.of(
                        "a header that is not text",
                        good.withHeaders(withNull),
                        InvalidMessageException.class,
                        "headers are names and values that are text"),
                Arguments.of(
                        "100,000 headers",
                        good.withHeaders(tooMany),
                        InvalidMessageException.class,
                        "over the limit of 65536 bytes in 1000 fields"),
                Arguments.of(
                        "empty content type", good.withContentType(""), InvalidMessageException.class, "content type"),
                Arguments.of(
                        "content type too long",
                        good.withContentType("x".repeat(256)),
                        InvalidMessageException.class,
                        "content type"),
                Arguments.of(
                        "correlation id too long",
                        good.withCorrelationId("x".repeat(1025)),
                        InvalidMessageException.class,
                        "correlation id"),
                Arguments.of(
                        "negative delay",
                        good.withDelay(Duration.ofSeconds(-1)),
                        InvalidMessageException.class,
                        "can not be delayed by PT-1S"),
                Arguments.of(
                        "endless delay",
                        good.withDelay(Duration.ofDays(1_000_000)),
                        InvalidMessageException.class,
                        "36500 days"),
                Arguments.of(
                        "far future",
                        good.withDeliverAt(Instant.MAX),
                        InvalidMessageException.class,
                        "before the year 10000"),
                Arguments.of(
                        "priority on an ordered topic",
                        good.withPriority(Priority.HIGH),
                        InvalidMessageException.class,
                        "topic \"t\" has no priority levels"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("badMessages")
    void a_bad_message_is_refused_on_its_own_and_in_a_batch(
            String what, Message bad, Class<? extends Exception> type, String text) {
        Publisher publisher = trunkline.publisher();
        assertThatThrownBy(() -> publisher.publish(bad))
                .as(what)
                .isInstanceOf(type)
                .hasMessageContaining(text);
        assertThatThrownBy(() -> publisher.publishAll(List.of(Message.of(bad.topic(), "good"), bad)))
                .as(what)
                .isInstanceOf(type)
                .hasMessageContaining(text);
        assertNothingWritten();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("badMessages")
    void a_bad_message_is_refused_in_the_callers_transaction(
            String what, Message bad, Class<? extends Exception> type, String text) throws Exception {
        try (Connection connection = database.connect()) {
            connection.setAutoCommit(false);
            assertThatThrownBy(() -> trunkline.publisher().publish(connection, bad))
                    .as(what)
                    .isInstanceOf(type)
                    .hasMessageContaining(text);
            connection.rollback();
            assertThatThrownBy(() ->
                            trunkline.publisher().publishAll(connection, List.of(Message.of(bad.topic(), "good"), bad)))
                    .as(what)
                    .isInstanceOf(type)
                    .hasMessageContaining(text);
        }
        assertNothingWritten();
    }

    static Stream<Arguments> badTopics() {
        TopicConfiguration good = TopicConfiguration.queue("good");
        return Stream.of(
                Arguments.of(TopicConfiguration.queue(""), "1 to 255 characters"),
                Arguments.of(TopicConfiguration.queue("x".repeat(256)), "this one has 256"),
                Arguments.of(TopicConfiguration.queue("a\0"), "U+0000"),
                Arguments.of(TopicConfiguration.queue("a\nb"), "U+000A"),
                Arguments.of(TopicConfiguration.queue("a\u0085"), "U+0085"),
                Arguments.of(TopicConfiguration.queue("\ud83d"), "lone surrogate"),
                Arguments.of(good.withNamespace(""), "a namespace has 1 to 255 characters"),
                Arguments.of(good.withTask("\u0001"), "a task has no control characters"),
                Arguments.of(good.withPartitions(0), "partitions"),
                Arguments.of(good.withPartitions(1025), "partitions"),
                Arguments.of(good.withLanes(17), "lanes"),
                Arguments.of(good.withLanes(0), "lanes"),
                Arguments.of(good.withRetention(Duration.ZERO), "retention"),
                Arguments.of(good.withRetention(Duration.ofSeconds(-1)), "retention"),
                Arguments.of(good.withMaxPayloadBytes(0), "max_payload_bytes"),
                Arguments.of(good.withSegments(1, Duration.ofHours(1)), "segment_bytes"),
                Arguments.of(good.withSegments(1 << 20, Duration.ZERO), "segment_age"));
    }

    @ParameterizedTest
    @MethodSource("badTopics")
    void a_bad_topic_is_refused(TopicConfiguration bad, String text) {
        assertThatThrownBy(() -> trunkline.topics().create(bad))
                .isInstanceOf(InvalidTopicException.class)
                .hasMessageContaining(text);
        assertThat(trunkline.topics().list())
                .extracting(TopicConfiguration::name)
                .containsExactly("t");
    }

    @Test
    void what_stays_for_life_can_not_be_altered() {
        TopicConfiguration t = trunkline.topics().find("t").orElseThrow();
        assertThatThrownBy(() -> trunkline.topics().alter(t.withPartitions(32)))
                .isInstanceOf(InvalidTopicException.class)
                .hasMessageContaining("has partitions 16 for life, not 32");
        assertThatThrownBy(() -> trunkline.topics().alter(t.withOrdering(Ordering.THROUGHPUT)))
                .isInstanceOf(InvalidTopicException.class);
        assertThatThrownBy(() -> trunkline.topics().alter(TopicConfiguration.queue("nope")))
                .isInstanceOf(UnknownTopicException.class);
        assertThatThrownBy(() -> trunkline.topics().create(TopicConfiguration.queue("t")))
                .isInstanceOf(TopicExistsException.class);
        assertThatThrownBy(() -> trunkline.topics().drop("nope")).isInstanceOf(UnknownTopicException.class);
        assertThatThrownBy(() -> trunkline.log().end("nope", 0)).isInstanceOf(UnknownTopicException.class);
        assertThatThrownBy(() -> trunkline.log().read("t", 16, 0, 1)).hasMessageContaining("partitions 0 to 15");
    }

    @Test
    void a_batch_for_two_topics_is_refused() {
        assertThatThrownBy(() -> trunkline.publisher().publishAll(List.of(Message.of("t", "a"), Message.of("u", "b"))))
                .isInstanceOf(InvalidMessageException.class)
                .hasMessageContaining("one batch for each topic");
    }

    @Test
    void a_failed_transaction_is_named_as_such() throws Exception {
        try (Connection connection = database.connect()) {
            connection.setAutoCommit(false);
            assertThatThrownBy(() -> TestDatabase.query(connection, "select 1/0"))
                    .isNotNull();
            assertThatThrownBy(() -> trunkline.publisher().publish(connection, Message.of("t", "x")))
                    .isInstanceOf(TrunklineException.class)
                    .hasMessageContaining("roll it back");
        }
        assertNothingWritten();
    }

    @Test
    void a_closed_publisher_says_so() throws Exception {
        Trunkline other = database.open();
        Publisher publisher = other.publisher();
        other.close();
        assertThatThrownBy(() -> publisher.publish(Message.of("t", "x"))).isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> publisher.publishAsync(Message.of("t", "x"))).isInstanceOf(ClosedException.class);
        try (Connection connection = database.connect()) {
            assertThatThrownBy(() -> publisher.publish(connection, Message.of("t", "x")))
                    .isInstanceOf(ClosedException.class);
        }
        assertNothingWritten();
    }

    @Test
    void one_bad_message_does_not_fail_those_it_shares_a_batch_with() {
        var futures = IntStream.range(0, 100)
                .mapToObj(i -> trunkline
                        .publisher()
                        .publishAsync(i == 50 ? Message.of("t", "x".repeat(2000)) : Message.of("t", "ok")))
                .toList();
        assertThat(futures.stream()
                        .filter(future ->
                                future.handle((receipt, e) -> e == null).join()))
                .hasSize(99);
        assertThatThrownBy(() -> futures.get(50).join()).hasCauseInstanceOf(PayloadTooLargeException.class);
        trunkline.relayNow();
        database.query("select trunkline.roll_segment(1)");
        database.query(
                "select trunkline.drop_segment(1, (select bases from trunkline.segment order by id desc limit 1))");
    }

    @Test
    void unconfigured_topics_become_queues_where_the_installation_wants_that() throws Exception {
        TestDatabase fresh = TestDatabase.fresh();
        try (Trunkline other = fresh.open()) {
            assertThatThrownBy(() -> other.publisher().publish(Message.of("new", "x")))
                    .isInstanceOf(UnknownTopicException.class);
            other.topics().unconfigured(UnconfiguredTopics.QUEUE);
            other.publisher().publish(Message.of("new", "x"));
            assertThat(Logs.texts(other, "new")).containsExactly("x");
            try (Connection connection = fresh.connect()) {
                connection.setAutoCommit(false);
                assertThatThrownBy(() -> other.publisher().publish(connection, Message.of("newer", "x")))
                        .isInstanceOf(UnknownTopicException.class)
                        .hasMessageContaining("roll back and publish again");
                connection.rollback();
                other.publisher().publish(connection, Message.of("newer", "x"));
                connection.commit();
            }
            other.relayNow();
            assertThat(Logs.texts(other, "newer")).containsExactly("x");
        }
    }

    private void assertNothingWritten() {
        trunkline.relayNow();
        assertThat(Logs.texts(trunkline, "t")).isEmpty();
        assertThat(database.number("select count(*) from trunkline.outbox")).isZero();
    }
}
