package dev.trunkline.behaviour;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.InvalidMessageException;
import dev.trunkline.LogMessage;
import dev.trunkline.Message;
import dev.trunkline.PayloadTooLargeException;
import dev.trunkline.PullConsumer;
import dev.trunkline.PullOptions;
import dev.trunkline.Receipt;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.rig.HostileInputs;
import dev.trunkline.testing.Onslaught;
import dev.trunkline.testing.TestDatabase;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** F26 and F28: by every way to publish, whatever belongs to a message comes back as it was given, or is refused for what is wrong with it. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class HostileMessagesTest {

    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final List<String> ERRORS = HostileInputs.some(text -> isText(text, 0, 255));
    private static final List<Class<? extends Exception>> REFUSALS =
            List.of(InvalidMessageException.class, PayloadTooLargeException.class);

    private final TestDatabase database = TestDatabase.fresh();
    private final Trunkline trunkline = database.open();
    private final Onslaught onslaught;
    private final Connection connection;
    private final PullConsumer<byte[]> reader;

    HostileMessagesTest() throws SQLException {
        trunkline.topics().create(TopicConfiguration.pubSub("t").withPartitions(1));
        reader = trunkline.pull("g", "t", byte[].class, PullOptions.fromNow());
        onslaught = new Onslaught(database);
        connection = database.connect();
    }

    @AfterAll
    void close() throws SQLException {
        System.out.println(onslaught.cases() + " bad messages were thrown at the publisher");
        onslaught.close();
        connection.close();
        trunkline.close();
    }

    /** The ways to publish. */
    enum Way {
        ALONE,
        ASYNC,
        BATCH,
        IN_TRANSACTION,
        BATCH_IN_TRANSACTION;

        long publish(Trunkline to, Connection connection, Message message) throws Exception {
            Message plain = Message.of(message.topic(), "plain");
            return switch (this) {
                case ALONE -> to.publisher().publish(message).id();
                case ASYNC ->
                    joined(() -> to.publisher().publishAsync(message).join()).id();
                case BATCH ->
                    to.publisher()
                            .publishAll(List.of(message, plain))
                            .getFirst()
                            .id();
                case IN_TRANSACTION ->
                    committed(connection, () -> to.publisher().publish(connection, message));
                case BATCH_IN_TRANSACTION ->
                    committed(
                            connection,
                            () -> to.publisher()
                                    .publishAll(connection, List.of(message, plain))
                                    .getFirst());
            };
        }

        private interface Publishing {
            Receipt run() throws SQLException;
        }

        private static Receipt joined(Publishing publishing) throws Exception {
            try {
                return publishing.run();
            } catch (CompletionException e) {
                throw (Exception) e.getCause();
            }
        }

        private static long committed(Connection connection, Publishing publishing) throws SQLException {
            connection.setAutoCommit(false);
            try {
                long id = publishing.run().id();
                connection.commit();
                return id;
            } finally {
                connection.rollback();
            }
        }
    }

    /** Publishes it, and finds it in the log and in the hands of a group. */
    private LogMessage sent(Way way, Message message) throws Exception {
        long before = trunkline.log().end("t", 0);
        long id = way.publish(trunkline, connection, message);
        trunkline.relayNow();
        List<LogMessage> log = trunkline.log().read("t", 0, before, 10);
        LogMessage first = log.getFirst();
        assertThat(first.id()).isEqualTo(id);
        LogMessage popped = null;
        var batch = reader.pop(10, MINUTE);
        while (batch.isPresent()) {
            popped = batch.get().deliveries().stream()
                    .map(delivery -> delivery.message())
                    .filter(delivered -> delivered.id() == id)
                    .findFirst()
                    .orElse(popped);
            reader.ack(batch.get().token());
            batch = reader.pop(10, MINUTE);
        }
        assertThat(popped)
                .usingRecursiveComparison()
                .withEqualsForType(Object::equals, Map.class)
                .withEqualsForType(Arrays::equals, byte[].class)
                .isEqualTo(first);
        return first;
    }

    private static int bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }

    private static boolean isText(String text, int least, int most) {
        return text.codePoints().noneMatch(c -> c == 0 || (c >= 0xd800 && c <= 0xdfff))
                && bytes(text) >= least
                && bytes(text) <= most;
    }

    private static Arguments field(
            String what,
            int least,
            int most,
            Function<String, UnaryOperator<Message>> set,
            Function<LogMessage, String> get) {
        Predicate<String> fits = text -> isText(text, least, most);
        return Arguments.of(what, fits, set, get);
    }

    static Stream<Arguments> fields() {
        return Stream.of(
                field("a key", 0, 1024, key -> message -> message.withKey(key), LogMessage::key),
                field(
                        "a header's name",
                        0,
                        65_535,
                        name -> message -> message.withHeader(name, "v"),
                        message -> message.headers().keySet().iterator().next()),
                field(
                        "a header's value",
                        0,
                        65_535,
                        value -> message -> message.withHeader("h", value),
                        message -> message.headers().get("h")),
                field(
                        "a correlation id",
                        0,
                        1024,
                        id -> message -> message.withCorrelationId(id),
                        LogMessage::correlationId),
                field(
                        "a content type",
                        1,
                        255,
                        type -> message -> message.withContentType(type),
                        LogMessage::contentType),
                field("a payload as text", 0, 1 << 20, text -> message -> Message.of("t", text), LogMessage::text));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("fields")
    void a_text_of_a_message_comes_back_as_it_was(
            String what,
            Predicate<String> fits,
            Function<String, UnaryOperator<Message>> set,
            Function<LogMessage, String> get)
            throws Exception {
        // NUL is no harm in a payload, which is bytes.
        Predicate<String> fitting = what.equals("a payload as text")
                ? text -> StandardCharsets.UTF_8.newEncoder().canEncode(text)
                : fits;
        int turn = 0;
        for (String text : HostileInputs.some(fitting)) {
            Way way = Way.values()[turn++ % Way.values().length];
            onslaught.texts(what + " " + way, List.of(text), fitting, REFUSALS, given -> {
                Message message = set.apply(given).apply(Message.of("t", "x"));
                assertThat(get.apply(sent(way, message))).isEqualTo(given);
            });
        }
    }

    @Test
    void a_repeated_publish_is_known_by_its_idempotency_key() throws Exception {
        int turn = 0;
        Predicate<String> fits = key -> isText(key, 1, 1024);
        for (String text : HostileInputs.some(fits)) {
            Way way = Way.values()[turn++ % Way.values().length];
            onslaught.texts("an idempotency key " + way, List.of(text), fits, REFUSALS, key -> {
                Message message = Message.of("t", "x").withIdempotencyKey(key);
                long before = trunkline.log().end("t", 0);
                sent(way, message);
                assertThat(trunkline.publisher().publish(message).duplicate()).isTrue();
                assertThat(trunkline.log().read("t", 0, before, 10))
                        .extracting(LogMessage::text)
                        .containsOnlyOnce("x");
            });
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_payload_comes_back_byte_for_byte(Way way) throws Exception {
        List<String> wrong = new ArrayList<>();
        for (byte[] payload : HostileInputs.payloads()) {
            onslaught.one(
                    way + ", a payload of " + payload.length + " bytes",
                    payload,
                    true,
                    REFUSALS,
                    bytes -> assertThat(sent(way, Message.of("t", bytes)).payload())
                            .isEqualTo(bytes),
                    wrong);
        }
        onslaught.one(
                way + ", over the limit",
                new byte[(1 << 20) + 1],
                false,
                REFUSALS,
                bytes -> sent(way, Message.of("t", bytes)),
                wrong);
        assertThat(wrong).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void headers_come_back_as_they_were(Way way) throws Exception {
        List<String> wrong = new ArrayList<>();
        for (Map<String, String> headers : HostileInputs.headers()) {
            int bytes = headers.entrySet().stream()
                    .mapToInt(header -> bytes(header.getKey()) + bytes(header.getValue()))
                    .sum();
            onslaught.one(
                    way + ", " + headers.size() + " headers of " + bytes + " bytes",
                    headers,
                    headers.size() <= 1000 && bytes <= 65_536,
                    REFUSALS,
                    given -> assertThat(sent(way, Message.of("t", "x").withHeaders(given))
                                    .headers())
                            .isEqualTo(given),
                    wrong);
        }
        assertThat(wrong).isEmpty();
    }

    @Test
    void what_a_batch_failed_with_is_kept_as_far_as_it_can_be() throws Exception {
        onslaught.texts("an error", ERRORS, text -> true, List.of(), error -> {
            trunkline.publisher().publish(Message.of("t", "x"));
            var batch = reader.pop(1, MINUTE).orElseThrow();
            long offset = batch.deliveries().getFirst().message().offset();
            reader.nack(batch.token(), List.of(offset), Duration.ZERO, error);
            var again = reader.pop(1, MINUTE).orElseThrow();
            assertThat(again.deliveries().getFirst().attempt()).isEqualTo(2);
            reader.reject(again.token(), List.of(offset), error);
        });
        assertThat(Optional.of(database.number("select count(*) from trunkline.dead_letter")))
                .contains((long) ERRORS.size());
    }
}
