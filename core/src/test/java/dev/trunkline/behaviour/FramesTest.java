package dev.trunkline.behaviour;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.LogMessage;
import dev.trunkline.Message;
import dev.trunkline.Priority;
import dev.trunkline.Receipt;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.testing.Logs;
import dev.trunkline.testing.Seed;
import dev.trunkline.testing.TestDatabase;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** However messages are packed into frames, they come out as they went in, each at its place. */
class FramesTest {

    private static final int ROUNDS = 40;

    @ParameterizedTest
    @ValueSource(ints = {15, 18})
    void batches_of_every_kind_come_out_as_they_went_in(int major) throws Exception {
        long seed = Seed.next();
        Random random = new Random(seed);
        TestDatabase database = TestDatabase.fresh(major);
        Map<Long, Message> published = new HashMap<>();
        Map<String, List<Long>> order = new HashMap<>();
        Map<Long, Integer> calls = new HashMap<>();
        try (Trunkline trunkline = database.open()) {
            trunkline
                    .topics()
                    .create(TopicConfiguration.queue("t")
                            .withPartitions(5)
                            .withLanes(2)
                            .withPriorityLevels(true));
            for (int round = 0; round < ROUNDS; round++) {
                List<Message> batch = batch(random);
                List<Receipt> receipts;
                if (random.nextBoolean()) {
                    receipts = trunkline.publisher().publishAll(batch);
                } else {
                    try (Connection connection = database.connect()) {
                        connection.setAutoCommit(false);
                        receipts = trunkline.publisher().publishAll(connection, batch);
                        connection.commit();
                    }
                }
                for (int i = 0; i < batch.size(); i++) {
                    Message message = batch.get(i);
                    long id = receipts.get(i).id();
                    published.put(id, message);
                    calls.put(id, round);
                    if (message.key() != null) {
                        order.computeIfAbsent(message.key() + message.priority(), k -> new ArrayList<>())
                                .add(id);
                    }
                }
                if (random.nextInt(4) == 0) {
                    trunkline.relayNow();
                }
            }
            trunkline.relayNow();
            List<LogMessage> log = Logs.all(trunkline, "t");
            assertThat(log).as("seed %d", seed).hasSameSizeAs(published.keySet());
            Map<String, List<Long>> found = new HashMap<>();
            for (LogMessage message : log) {
                assertSame(message, published.get(message.id()), seed);
                if (message.key() != null) {
                    found.computeIfAbsent(message.key() + message.priority(), k -> new ArrayList<>())
                            .add(message.id());
                }
            }
            assertThat(found).as("seed %d", seed).isEqualTo(order);
            assertUnitsAreWhole(log, calls, seed);
            Logs.assertDense(trunkline, "t");
            assertThat(database.number("select count(*) from trunkline.messages where topic = 't'"))
                    .isEqualTo(log.size());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {15, 18})
    void a_frame_that_just_fills_a_page_or_just_does_not_is_stored(int major) throws Exception {
        TestDatabase database = TestDatabase.fresh(major);
        try (Trunkline trunkline = database.open()) {
            trunkline.topics().create(TopicConfiguration.queue("t").withPartitions(1));
            List<Message> batch = new ArrayList<>();
            for (int size = 7_700; size < 8_300; size++) {
                batch.add(Message.of("t", new byte[size]).withKey("k"));
            }
            trunkline.publisher().publishAll(batch);
            try (Connection connection = database.connect()) {
                connection.setAutoCommit(false);
                trunkline.publisher().publishAll(connection, batch);
                connection.commit();
            }
            trunkline.relayNow();
            assertThat(Logs.all(trunkline, "t")).hasSize(2 * batch.size());
        }
    }

    @Test
    void a_window_may_begin_and_end_inside_a_frame() {
        TestDatabase database = TestDatabase.fresh();
        try (Trunkline trunkline = database.open()) {
            trunkline.topics().create(TopicConfiguration.queue("t").withPartitions(1));
            List<Message> batch = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                batch.add(Message.of("t", "m" + i).withKey("k"));
            }
            trunkline.publisher().publishAll(batch);
            assertThat(database.number("select count(*) from trunkline.segment_1"))
                    .isBetween(2L, 100L);
            for (int from : new int[] {0, 1, 77, 150, 299}) {
                for (int most : new int[] {1, 2, 90, 301}) {
                    assertThat(trunkline.log().read("t", 0, from, most))
                            .extracting(LogMessage::text)
                            .containsExactlyElementsOf(batch.subList(from, Math.min(300, from + most)).stream()
                                    .map(message -> message.payload().toString())
                                    .toList());
                }
            }
            assertThat(database.query("select text from trunkline.read('t', 0, 77, 3)"))
                    .containsExactly("m77", "m78", "m79");
        }
    }

    private static List<Message> batch(Random random) {
        int size = random.nextInt(3) == 0 ? 1 + random.nextInt(400) : 1 + random.nextInt(5);
        boolean bare = random.nextInt(3) == 0;
        List<Message> batch = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            byte[] payload = new byte[random.nextInt(20) == 0 ? random.nextInt(20_000) : random.nextInt(300)];
            random.nextBytes(payload);
            Message message = Message.of("t", payload);
            if (!bare && random.nextInt(4) > 0) {
                message = message.withKey("key \"" + random.nextInt(12) + "\" \\ ü");
            }
            if (!bare && random.nextInt(3) == 0) {
                message = message.withHeader("plain", "x")
                        .withHeader("odd {,} \"\\", "NULL")
                        .withHeader("empty", "");
            }
            if (!bare && random.nextInt(3) == 0) {
                message = message.withCorrelationId("c" + i).withContentType("type/" + random.nextInt(3));
            }
            if (!bare && random.nextInt(5) == 0) {
                message = message.withPriority(random.nextBoolean() ? Priority.HIGH : Priority.LOW);
            }
            batch.add(message);
        }
        return batch;
    }

    private static void assertSame(LogMessage found, Message message, long seed) {
        assertThat(found.payload()).as("%s, seed %d", found, seed).isEqualTo((byte[]) message.payload());
        assertThat(found.key()).as("%s, seed %d", found, seed).isEqualTo(message.key());
        assertThat(found.headers()).as("%s, seed %d", found, seed).isEqualTo(message.headers());
        assertThat(found.correlationId()).as("%s, seed %d", found, seed).isEqualTo(message.correlationId());
        assertThat(found.priority()).as("%s, seed %d", found, seed).isEqualTo(message.priority());
        assertThat(found.contentType())
                .as("%s, seed %d", found, seed)
                .isEqualTo(message.contentType() == null ? "application/octet-stream" : message.contentType());
        assertThat(found.publishedAt()).as("%s, seed %d", found, seed).isBeforeOrEqualTo(found.appendedAt());
    }

    /** In each partition the messages of one call lie together, share a unit, and only the last of them ends it. */
    private static void assertUnitsAreWhole(List<LogMessage> log, Map<Long, Integer> calls, long seed) {
        for (int i = 0; i + 1 < log.size(); i++) {
            LogMessage message = log.get(i);
            LogMessage next = log.get(i + 1);
            boolean sameStrand = message.partition() == next.partition() && message.priority() == next.priority();
            boolean sameCall = calls.get(message.id()).equals(calls.get(next.id()));
            assertThat(message.unit() == next.unit() && sameStrand)
                    .as("%s and the next, seed %d", message, seed)
                    .isEqualTo(sameStrand && sameCall);
            assertThat(message.unitEnd()).as("%s, seed %d", message, seed).isEqualTo(!(sameStrand && sameCall));
        }
    }
}
