package dev.trunkline.behaviour;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.trunkline.Batch;
import dev.trunkline.Codec;
import dev.trunkline.ConsumerGroupException;
import dev.trunkline.Delivery;
import dev.trunkline.LeaseExpiredException;
import dev.trunkline.LogMessage;
import dev.trunkline.Message;
import dev.trunkline.Priority;
import dev.trunkline.PullConsumer;
import dev.trunkline.PullOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.UnknownTopicException;
import dev.trunkline.testing.Logs;
import dev.trunkline.testing.TestDatabase;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Batches under a lease, for callers that can not keep a handler running: from Java, and from anything that speaks SQL. */
@Timeout(300)
class PullTest {

    private static final Duration LONG = Duration.ofMinutes(10);
    /** Over when the next statement begins. */
    private static final Duration MOMENT = Duration.ofNanos(1_000);

    private static final PullOptions FROM_BEGINNING = PullOptions.fromBeginning();

    private final TestDatabase database = TestDatabase.fresh();
    private Trunkline trunkline;

    @BeforeEach
    void open() {
        trunkline = database.open();
        trunkline.topics().create(TopicConfiguration.pubSub("t").withPartitions(1));
    }

    @AfterEach
    void close() {
        trunkline.close();
    }

    @Test
    void a_batch_is_given_to_nobody_else_until_it_is_acknowledged() {
        PullConsumer<String> group = pull(FROM_BEGINNING);
        publish("a 0", "b 1", "a 2", "b 3", "a 4");
        Batch<String> first = pop(group, 3);
        assertThat(texts(first)).containsExactly("a 0", "b 1", "a 2");
        assertThat(group.pop(3, LONG)).isEmpty();
        assertThat(first.expiresAt()).isAfter(Instant.now().minus(LONG));
        group.ack(first.token());
        Batch<String> second = pop(group, 3);
        assertThat(texts(second)).containsExactly("b 3", "a 4");
        assertThat(second.deliveries().getFirst().epoch())
                .isGreaterThan(first.deliveries().getFirst().epoch());
        group.ack(second.token());
        assertThat(group.pop(3, LONG)).isEmpty();
        assertThat(lag()).isZero();
    }

    @Test
    void a_message_comes_as_it_lies_in_the_log() {
        PullConsumer<String> group = pull(FROM_BEGINNING);
        trunkline
                .publisher()
                .publishAll(List.of(
                        Message.of("t", "one")
                                .withKey("ключ")
                                .withHeader("a", "1, \"2\"")
                                .withHeader("b", "{}")
                                .withCorrelationId("c"),
                        Message.of("t", new byte[0]),
                        Message.of("t", "three").withContentType("text/x")));
        database.query("select trunkline.publish('t', 'four', headers => '{\"h\": \"v\"}')");
        trunkline.relayNow();
        Batch<String> batch = pop(group, 10);
        List<Delivery<String>> popped = batch.deliveries();
        List<LogMessage> log = Logs.all(trunkline, "t");
        assertThat(popped.stream().map(Delivery::message).toList())
                .usingRecursiveFieldByFieldElementComparator()
                .containsExactlyElementsOf(log);
        assertThat(popped).extracting(Delivery::payload).containsExactly("one", "", "three", "four");
        assertThat(popped).allSatisfy(delivery -> {
            assertThat(delivery.attempt()).isEqualTo(1);
            assertThat(delivery.group()).isEqualTo("g");
        });
        group.nack(batch.token(), Duration.ZERO, "again");
        assertThat(pop(group, 10).deliveries().stream().map(Delivery::message).toList())
                .as("one by one, since they were tried before")
                .usingRecursiveFieldByFieldElementComparator()
                .containsExactlyElementsOf(log);
    }

    @Test
    void a_batch_may_begin_and_end_within_what_was_published_together() {
        PullConsumer<String> group = pull(FROM_BEGINNING);
        PullConsumer<String> some =
                trunkline.pull("some", "t", String.class, FROM_BEGINNING.withKeys(Set.of("k3", "k5", "k6", "k249")));
        trunkline
                .publisher()
                .publishAll(IntStream.range(0, 250)
                        .mapToObj(i -> Message.of("t", "m" + i).withKey("k" + i))
                        .toList());
        List<LogMessage> log = Logs.all(trunkline, "t");
        int at = 0;
        for (int size : new int[] {30, 150, 1, 69}) {
            Batch<String> batch = pop(group, size);
            assertThat(batch.deliveries().stream().map(Delivery::message).toList())
                    .usingRecursiveFieldByFieldElementComparator()
                    .containsExactlyElementsOf(log.subList(at, at + size));
            group.ack(batch.token());
            at += size;
        }
        assertThat(group.pop(10, LONG)).isEmpty();
        Batch<String> wanted = pop(some, 3);
        assertThat(texts(wanted)).containsExactly("m3", "m5", "m6");
        some.ack(wanted.token());
        assertThat(database.query(
                        "select convert_from(payload, 'UTF8') from trunkline.pop('some', 't', 10, '1 minute')"))
                .containsExactly("m249");
    }

    @Test
    void every_message_comes_once_and_each_key_in_order_across_partitions_and_segments() {
        trunkline
                .topics()
                .create(TopicConfiguration.pubSub("many").withPartitions(8).withSegments(8192, Duration.ofHours(1)));
        PullConsumer<String> group = trunkline.pull("g", "many", String.class, FROM_BEGINNING);
        Map<String, List<String>> published = new HashMap<>();
        for (int batch = 0; batch < 20; batch++) {
            List<Message> messages = new ArrayList<>();
            for (int i = 0; i < 40; i++) {
                String key = "k" + i % 13;
                String text = key + " " + batch + "/" + i;
                published.computeIfAbsent(key, k -> new ArrayList<>()).add(text);
                messages.add(Message.of("many", text).withKey(key));
            }
            trunkline.publisher().publishAll(messages);
            if (batch % 5 == 4) {
                database.query("select trunkline.roll_segment(2)");
            }
        }
        Map<String, List<String>> popped = new HashMap<>();
        for (Optional<Batch<String>> batch = group.pop(7, LONG); batch.isPresent(); batch = group.pop(7, LONG)) {
            batch.get()
                    .deliveries()
                    .forEach(delivery -> popped.computeIfAbsent(delivery.key(), k -> new ArrayList<>())
                            .add(delivery.payload()));
            group.ack(batch.get().token());
        }
        assertThat(popped).isEqualTo(published);
        assertThat(database.number("select sum(lag) from trunkline.lag('g', 'many')"))
                .isZero();
    }

    @Test
    void what_is_released_was_never_taken_however_often_and_takes_its_key_with_it() {
        PullConsumer<String> group = pull(FROM_BEGINNING.withAttempts(2));
        publish("a 0", "b 1", "a 2", "b 3");
        for (int i = 0; i < 3; i++) {
            Batch<String> batch = pop(group, 4);
            assertThat(batch.deliveries()).allMatch(delivery -> delivery.attempt() == 1);
            assertThat(group.release(batch.token(), List.of())).containsExactly(0L, 1L, 2L, 3L);
            group.release(batch.token());
        }
        assertThat(database.number("select count(*) from trunkline.attempt")).isZero();
        assertThat(database.number("select count(*) from trunkline.progress_0"))
                .as("nothing was done")
                .isZero();
        String token = pop(group, 4).token();
        assertThat(group.release(token, List.of(0L)))
                .as("a 2 must not be done before a 0")
                .containsExactly(1L, 3L);
        group.ack(token);
        Batch<String> rest = pop(group, 4);
        assertThat(texts(rest)).containsExactly("a 0", "a 2");
        assertThat(rest.deliveries()).allMatch(delivery -> delivery.attempt() == 1);
        assertThatThrownBy(() -> group.release(rest.token(), List.of(1L)))
                .isInstanceOf(ConsumerGroupException.class)
                .hasMessageContaining("offset 1 is not in this batch");
        group.nack(rest.token(), Duration.ZERO, "failed");
        Batch<String> last = pop(group, 4);
        group.release(last.token());
        assertThat(pop(group, 4).deliveries().getFirst().attempt()).isEqualTo(2);
        assertThat(deadLetters()).isEmpty();
    }

    @Test
    void what_is_handed_back_comes_again_when_it_is_due_and_holds_up_its_key_only() {
        PullConsumer<String> group = pull(FROM_BEGINNING);
        publish("a 0", "b 1", "a 2", "b 3");
        Batch<String> batch = pop(group, 3);
        assertThat(group.nack(batch.token(), List.of(0L), Duration.ofHours(1), "not now"))
                .as("what is left: that of the other key")
                .containsExactly(1L);
        assertThat(group.ack(batch.token(), List.of(1L))).isEmpty();
        publish("a 4", "c 5");
        Batch<String> others = pop(group, 10);
        assertThat(texts(others)).containsExactly("b 3", "c 5");
        group.ack(others.token());
        assertThat(group.pop(10, LONG)).isEmpty();
        makeDue();
        Batch<String> again = pop(group, 10);
        assertThat(texts(again)).containsExactly("a 0", "a 2", "a 4");
        assertThat(attempts(again)).containsExactly(2, 1, 1);
        group.ack(again.token());
        assertThat(lag()).isZero();
        assertThat(database.number("select count(*) from trunkline.attempt")).isZero();
    }

    @Test
    void in_an_ordered_topic_a_key_is_acknowledged_in_order() {
        PullConsumer<String> group = pull(FROM_BEGINNING);
        publish("a 0", "b 1", "a 2", "a 3");
        String token = pop(group, 10).token();
        assertThatThrownBy(() -> group.ack(token, List.of(1L, 2L)))
                .isInstanceOf(ConsumerGroupException.class)
                .hasMessageContaining("offset 2 comes after one of its key");
        assertThat(group.ack(token, List.of(0L, 2L))).containsExactly(1L, 3L);
        assertThat(group.ack(token, List.of(3L))).containsExactly(1L);
        assertThat(group.ack(token, List.of())).containsExactly(1L);
        assertThat(group.ack(token, List.of(1L))).isEmpty();
        assertThat(lag()).isZero();
    }

    @Test
    void without_order_a_failed_message_holds_up_nothing() {
        trunkline
                .topics()
                .create(TopicConfiguration.pubSub("loose")
                        .withPartitions(1)
                        .withOrdering(dev.trunkline.Ordering.THROUGHPUT));
        PullConsumer<String> group = trunkline.pull("g", "loose", String.class, FROM_BEGINNING);
        for (int i = 0; i < 3; i++) {
            trunkline.publisher().publish(Message.of("loose", "m" + i).withKey("k"));
        }
        String token = pop(group, 10).token();
        assertThat(group.nack(token, List.of(0L), Duration.ofHours(1), "not now"))
                .containsExactly(1L, 2L);
        assertThat(group.ack(token, List.of(2L))).containsExactly(1L);
        group.ack(token);
        assertThat(group.pop(10, LONG)).isEmpty();
        makeDue();
        assertThat(texts(pop(group, 10))).containsExactly("m0");
    }

    @Test
    void a_batch_whose_lease_ran_out_has_failed_and_comes_again_to_somebody_else() {
        PullConsumer<String> group = pull(FROM_BEGINNING);
        publish("a 0", "b 1", "c 2");
        Batch<String> lost = group.pop(2, MOMENT).orElseThrow();
        Batch<String> taken = pop(group, 10);
        assertThat(texts(taken)).containsExactly("a 0", "b 1", "c 2");
        assertThat(attempts(taken)).containsExactly(2, 2, 1);
        long epoch = taken.deliveries().getFirst().epoch();
        List<Runnable> calls = List.of(
                () -> group.ack(lost.token()),
                () -> group.ack(lost.token(), List.of(0L)),
                () -> group.nack(lost.token(), Duration.ZERO, "late"),
                () -> group.reject(lost.token(), List.of(0L), "late"),
                () -> group.extend(lost.token(), LONG));
        assertThat(calls)
                .allSatisfy(call -> assertThatThrownBy(call::run)
                        .isInstanceOf(LeaseExpiredException.class)
                        .hasMessageContaining("is at epoch " + epoch));
        group.ack(taken.token());
        assertThat(lag()).isZero();
    }

    @Test
    void a_batch_that_nobody_else_has_popped_can_be_settled_after_its_lease() {
        PullConsumer<String> group = pull(FROM_BEGINNING);
        publish("a 0", "a 1");
        String token = group.pop(10, MOMENT).orElseThrow().token();
        assertThat(group.ack(token, List.of(0L))).containsExactly(1L);
        assertThat(group.extend(token, LONG)).isAfter(Instant.now());
        assertThat(group.pop(10, LONG)).isEmpty();
        group.ack(token);
        assertThat(lag()).isZero();
        group.ack(token);
        assertThat(database.number("select count(*) from trunkline.attempt")).isZero();
    }

    @Test
    void what_is_never_acknowledged_becomes_a_dead_letter_and_takes_nobody_with_it() {
        PullConsumer<String> group = pull(FROM_BEGINNING.withAttempts(3));
        publish("a 0", "b 1", "poison 2", "c 3");
        List<List<String>> batches = new ArrayList<>();
        while (lag() > 0) {
            Batch<String> batch = group.pop(10, MOMENT).orElseThrow();
            batches.add(texts(batch));
            if (!texts(batch).contains("poison 2")) {
                group.ack(batch.token());
            }
            if (batches.size() > 20) {
                throw new AssertionError("no end: " + batches);
            }
            if (texts(batch).equals(List.of("poison 2"))) {
                assertThat(group.pop(10, LONG).map(PullTest::texts)).isEqualTo(Optional.of(List.of("c 3")));
                break;
            }
        }
        assertThat(batches)
                .containsExactly(
                        List.of("a 0", "b 1", "poison 2", "c 3"),
                        List.of("a 0", "b 1", "poison 2", "c 3"),
                        List.of("a 0"),
                        List.of("b 1"),
                        List.of("poison 2"));
        assertThat(database.query("select text, attempts, error, cardinality(history) from trunkline.dead_letters"))
                .containsExactly("poison 2|3|not acknowledged within its lease|3");
    }

    @Test
    void a_dead_letter_stops_its_key_until_it_is_redriven() {
        PullConsumer<String> group = pull(FROM_BEGINNING.withAttempts(2));
        publish("a 0", "b 1", "a 2");
        String token = pop(group, 10).token();
        assertThat(group.nack(token, List.of(0L), Duration.ZERO, "first")).containsExactly(1L);
        group.ack(token);
        token = pop(group, 10).token();
        group.nack(token, Duration.ZERO, "second");
        assertThat(deadLetters()).containsExactly("a 0|2|second|t");
        publish("b 3", "a 4");
        Batch<String> others = pop(group, 10);
        assertThat(texts(others)).containsExactly("b 3");
        group.ack(others.token());
        assertThat(group.pop(10, LONG)).isEmpty();
        assertThat(lag()).as("the cursor moves on").isZero();
        assertThat(database.number("select count(*) from trunkline.parked")).isEqualTo(2);

        assertThat(database.number("select trunkline.redrive('g', 't')")).isEqualTo(1);
        publish("a 5");
        List<String> again = new ArrayList<>();
        for (Optional<Batch<String>> batch = group.pop(10, LONG); batch.isPresent(); batch = group.pop(10, LONG)) {
            again.addAll(texts(batch.get()));
            group.ack(batch.get().token());
        }
        assertThat(again).containsExactly("a 0", "a 2", "a 4", "a 5");
        assertThat(deadLetters()).isEmpty();
        assertThat(database.query(
                        "select (select count(*) from trunkline.parked), (select count(*) from trunkline.blocked),"
                                + " (select count(*) from trunkline.attempt)"))
                .containsExactly("0|0|0");
    }

    @Test
    void a_parked_message_that_fails_again_holds_up_its_line_and_a_discarded_one_lets_it_go() {
        PullConsumer<String> group = pull(FROM_BEGINNING.withAttempts(2));
        publish("a 0", "a 1", "a 2");
        group.reject(pop(group, 10).token(), List.of(0L), "broken");
        assertThat(group.pop(10, LONG)).isEmpty();
        assertThat(database.query("select text, attempts, error from trunkline.dead_letters"))
                .containsExactly("a 0|1|broken");
        database.query("select trunkline.discard('g', 't')");
        Batch<String> line = pop(group, 10);
        assertThat(texts(line)).containsExactly("a 1", "a 2");
        assertThat(group.nack(line.token(), List.of(1L), Duration.ofHours(1), "not now"))
                .isEmpty();
        publish("a 3", "b 4");
        Batch<String> other = pop(group, 10);
        assertThat(texts(other)).containsExactly("b 4");
        group.ack(other.token());
        makeDue();
        // Its last try, for which it is alone.
        Batch<String> last = pop(group, 10);
        assertThat(texts(last)).containsExactly("a 1");
        assertThat(attempts(last)).containsExactly(2);
        group.ack(last.token());
        Batch<String> rest = pop(group, 10);
        assertThat(texts(rest)).containsExactly("a 2", "a 3");
        group.ack(rest.token());
        assertThat(lag()).isZero();
        assertThat(database.number("select count(*) from trunkline.parked")).isZero();
    }

    @Test
    void what_is_parked_outlives_its_segment() {
        PullConsumer<String> group = pull(FROM_BEGINNING);
        publish("a 0");
        group.reject(pop(group, 1).token(), List.of(0L), "broken");
        database.query("select trunkline.roll_segment(1)");
        database.execute("update trunkline.topic set retention = '1 microsecond'");
        database.query("select trunkline.upkeep('trim', 1)");
        assertThat(trunkline.log().first("t", 0)).isEqualTo(1);
        database.query("select trunkline.redrive('g', 't')");
        publish("b 1", "b 2");
        Batch<String> batch = pop(group, 10);
        assertThat(texts(batch)).containsExactly("a 0", "b 1", "b 2");
        assertThat(group.reject(batch.token(), List.of(0L, 1L), "broken again"))
                .as("what comes after b 1 is handed back")
                .isEmpty();
        assertThat(deadLetters()).containsExactly("a 0|1|broken again|t", "b 1|1|broken again|t");
        assertThat(group.pop(10, LONG)).isEmpty();
        assertThat(lag()).isZero();
    }

    @Test
    void where_dead_letters_are_skipped_their_key_goes_on() {
        PullConsumer<String> group = pull(FROM_BEGINNING.withAttempts(1).withStopKey(false));
        publish("a 0", "a 1");
        String token = pop(group, 10).token();
        assertThat(group.nack(token, List.of(0L), Duration.ZERO, "no")).containsExactly(1L);
        group.ack(token);
        assertThat(deadLetters()).containsExactly("a 0|1|no|f");
        assertThat(lag()).isZero();
    }

    @Test
    void a_batch_that_expired_at_its_only_try_stops_each_key_at_its_first_message() {
        PullConsumer<String> group = pull(FROM_BEGINNING.withAttempts(1));
        publish("a 0", "a 1", "b 2");
        assertThat(group.pop(10, MOMENT)).isPresent();
        assertThat(group.pop(10, LONG)).isEmpty();
        assertThat(deadLetters())
                .containsExactly(
                        "a 0|1|not acknowledged within its lease|t", "b 2|1|not acknowledged within its lease|t");
        assertThat(group.pop(10, LONG)).isEmpty();
        assertThat(database.query("select key, \"offset\" from trunkline.parked"))
                .containsExactly("a|1");
        assertThat(lag()).isZero();
    }

    @Test
    void a_key_that_waits_long_is_parked_and_keeps_its_order() {
        PullConsumer<String> group = pull(FROM_BEGINNING);
        List<String> slow = new ArrayList<>();
        List<String> quick = new ArrayList<>();
        List<Message> messages = new ArrayList<>();
        for (int i = 0; i < 600; i++) {
            boolean isSlow = i % 3 == 0;
            String text = (isSlow ? "slow " : "quick ") + i;
            (isSlow ? slow : quick).add(text);
            messages.add(Message.of("t", text).withKey(isSlow ? "slow" : "quick"));
        }
        trunkline.publisher().publishAll(messages);
        String token = pop(group, 1).token();
        group.nack(token, Duration.ofHours(1), "not now");
        List<String> popped = new ArrayList<>();
        for (Optional<Batch<String>> batch = group.pop(30, LONG); batch.isPresent(); batch = group.pop(30, LONG)) {
            popped.addAll(texts(batch.get()));
            group.ack(batch.get().token());
        }
        assertThat(popped).containsExactlyElementsOf(quick);
        assertThat(database.number("select count(*) from trunkline.parked")).isGreaterThan(100);
        makeDue();
        popped.clear();
        for (Optional<Batch<String>> batch = group.pop(30, LONG); batch.isPresent(); batch = group.pop(30, LONG)) {
            popped.addAll(texts(batch.get()));
            group.ack(batch.get().token());
        }
        assertThat(popped).containsExactlyElementsOf(slow);
        assertThat(lag()).isZero();
    }

    @Test
    void a_line_waits_for_what_comes_before_it_on_its_key_and_is_not_parked_yet() {
        PullConsumer<String> group = pull(FROM_BEGINNING);
        publish("k 0", "k 1");
        String first = group.pop(2, MOMENT).orElseThrow().token();
        group.nack(first, List.of(1L), Duration.ofHours(1), "not now");
        for (int i = 0; i < 120; i++) {
            publish("w" + i + " waits");
        }
        Batch<String> batch = pop(group, 200);
        assertThat(texts(batch)).startsWith("k 0").hasSize(121);
        group.nack(batch.token(), Duration.ofHours(1), "not now");
        makeDue(0);
        publish("z 122");
        batch = pop(group, 200);
        assertThat(texts(batch)).containsExactly("k 0", "z 122");
        assertThat(database.number("select count(*) from trunkline.parked where key = 'k'"))
                .isEqualTo(1);
        assertThat(group.nack(batch.token(), List.of(0L), Duration.ZERO, "again"))
                .containsExactly(122L);
        group.ack(batch.token());
        makeDue(1);
        assertThat(texts(pop(group, 200))).containsExactly("k 0", "k 1");
    }

    private void makeDue(int offset) {
        database.execute("update trunkline.attempt set due_at = clock_timestamp() where \"offset\" = " + offset);
    }

    @Test
    void a_partition_in_which_a_thousand_messages_wait_stands_still_until_one_is_due() {
        PullConsumer<String> group = pull(FROM_BEGINNING);
        List<Message> messages = new ArrayList<>();
        for (int i = 0; i < 2_000; i++) {
            messages.add(Message.of("t", "m" + i));
        }
        trunkline.publisher().publishAll(messages);
        int popped = 0;
        for (Optional<Batch<String>> batch = group.pop(300, LONG); batch.isPresent(); batch = group.pop(300, LONG)) {
            popped += batch.get().deliveries().size();
            group.nack(batch.get().token(), Duration.ofHours(1), "all is broken");
        }
        assertThat(popped).isBetween(1_000, 1_300);
        makeDue(7);
        assertThat(pop(group, 300).deliveries().getFirst().payload()).isEqualTo("m7");
    }

    @Test
    void partitions_are_popped_fairly_and_each_can_have_one_batch() {
        trunkline.topics().create(TopicConfiguration.pubSub("wide").withPartitions(6));
        PullConsumer<String> group = trunkline.pull("g", "wide", String.class, FROM_BEGINNING);
        for (int i = 0; i < 60; i++) {
            trunkline.publisher().publish(Message.of("wide", "m" + i).withKey("k" + i));
        }
        List<Integer> partitions = new ArrayList<>();
        List<String> tokens = new ArrayList<>();
        for (Optional<Batch<String>> batch = group.pop(1, LONG); batch.isPresent(); batch = group.pop(1, LONG)) {
            partitions.add(batch.get().deliveries().getFirst().message().partition());
            tokens.add(batch.get().token());
        }
        assertThat(partitions).containsExactlyInAnyOrder(0, 1, 2, 3, 4, 5);
        assertThat(database.query("select partition from trunkline.open_batches order by 1"))
                .containsExactly("0", "1", "2", "3", "4", "5");
        tokens.forEach(group::ack);
        // One caller at a time: nobody but chance keeps it from taking the same partition again and again.
        Map<Integer, Integer> firstTen = new HashMap<>();
        for (int i = 0; i < 40; i++) {
            Batch<String> batch = pop(group, 1);
            firstTen.merge(batch.deliveries().getFirst().message().partition(), 1, Integer::sum);
            group.ack(batch.token());
        }
        assertThat(firstTen.size()).isGreaterThanOrEqualTo(4);
    }

    @Test
    void high_priority_mostly_comes_first_and_low_is_not_starved() {
        trunkline
                .topics()
                .create(TopicConfiguration.pubSub("levels").withPartitions(2).withPriorityLevels(true));
        PullConsumer<String> group = trunkline.pull("g", "levels", String.class, FROM_BEGINNING);
        List<Message> messages = new ArrayList<>();
        for (Priority priority : Priority.values()) {
            for (int i = 0; i < 400; i++) {
                messages.add(Message.of("levels", priority + " " + i)
                        .withKey("k" + i)
                        .withPriority(priority));
            }
        }
        Collections.shuffle(messages);
        trunkline.publisher().publishAll(messages);
        Map<Priority, Integer> counts = new HashMap<>();
        // So many that chance does not turn 7 to 2 to 1 around.
        for (int i = 0; i < 500; i++) {
            Batch<String> batch = pop(group, 1);
            counts.merge(batch.deliveries().getFirst().message().priority(), 1, Integer::sum);
            group.ack(batch.token());
        }
        assertThat(counts.get(Priority.HIGH)).isGreaterThan(counts.get(Priority.NORMAL));
        assertThat(counts.get(Priority.NORMAL)).isGreaterThan(counts.get(Priority.LOW));
        assertThat(counts.get(Priority.LOW)).isPositive();
        for (Optional<Batch<String>> batch = group.pop(100, LONG); batch.isPresent(); batch = group.pop(100, LONG)) {
            assertThat(batch.get().deliveries())
                    .extracting(delivery -> delivery.message().priority())
                    .containsOnly(batch.get().deliveries().getFirst().message().priority());
            group.ack(batch.get().token());
        }
        assertThat(database.number("select sum(lag) from trunkline.lag('g', 'levels')"))
                .isZero();
    }

    @Test
    void a_batch_is_bounded_in_bytes_too() {
        PullConsumer<byte[]> group = trunkline.pull("g", "t", byte[].class, FROM_BEGINNING);
        List<Message> messages = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            messages.add(Message.of("t", new byte[1 << 20]).withKey("k" + i));
        }
        trunkline.publisher().publishAll(messages);
        List<Integer> sizes = new ArrayList<>();
        for (Optional<Batch<byte[]>> batch = group.pop(100, LONG); batch.isPresent(); batch = group.pop(100, LONG)) {
            sizes.add(batch.get().deliveries().size());
            if (sizes.size() == 2) {
                // What was tried before is counted in another place.
                group.nack(batch.get().token(), Duration.ZERO, "again");
            } else {
                group.ack(batch.get().token());
            }
        }
        assertThat(sizes).containsExactly(16, 4, 4);
        assertThat(lag()).isZero();
    }

    @Test
    void acknowledged_in_the_callers_transaction_its_effects_happen_once() throws SQLException {
        database.execute("create table effect (text text)");
        PullConsumer<String> group = pull(FROM_BEGINNING);
        publish("a 0", "b 1");
        Batch<String> batch = pop(group, 10);
        try (Connection connection = database.connect()) {
            connection.setAutoCommit(false);
            apply(connection, batch);
            group.ack(connection, batch.token());
            connection.rollback();
            assertThat(database.number("select count(*) from effect")).isZero();
            assertThat(lag()).isEqualTo(2);
            apply(connection, batch);
            assertThat(group.ack(connection, batch.token(), List.of(0L))).containsExactly(1L);
            group.ack(connection, batch.token());
            connection.commit();
        }
        assertThat(database.query("select text from effect order by 1")).containsExactly("a 0", "b 1");
        assertThat(lag()).isZero();
        publish("a 2");
        Batch<String> late = group.pop(10, MOMENT).orElseThrow();
        Batch<String> taken = pop(group, 10);
        try (Connection connection = database.connect()) {
            connection.setAutoCommit(false);
            apply(connection, late);
            assertThatThrownBy(() -> group.ack(connection, late.token())).isInstanceOf(LeaseExpiredException.class);
            connection.rollback();
            apply(connection, taken);
            group.ack(connection, taken.token());
            connection.commit();
        }
        assertThat(database.query("select text from effect order by 1")).containsExactly("a 0", "a 2", "b 1");
    }

    private static void apply(Connection connection, Batch<String> batch) throws SQLException {
        for (String text : texts(batch)) {
            TestDatabase.query(connection, "insert into effect values (?)", text);
        }
    }

    @Test
    void what_can_not_be_decoded_is_a_dead_letter_at_once_and_the_rest_comes() {
        Codec numbers = new Codec() {
            @Override
            public byte[] encode(Object payload) {
                return payload.toString().getBytes(StandardCharsets.UTF_8);
            }

            @Override
            public String contentType() {
                return "text/plain";
            }

            @Override
            public <T> T decode(byte[] payload, Class<T> type) {
                return type.cast(Integer.valueOf(new String(payload, StandardCharsets.UTF_8)));
            }
        };
        try (Trunkline counting =
                database.options().backgroundWork(false).codec(numbers).open()) {
            PullConsumer<Integer> group = counting.pull("g", "t", Integer.class, FROM_BEGINNING);
            for (String text : List.of("a 1", "b x", "a 2", "b 3", "a y", "c 4")) {
                counting.publisher().publish(Message.of("t", text.substring(2)).withKey(text.substring(0, 1)));
            }
            Batch<Integer> batch = pop(group, 10);
            assertThat(batch.deliveries()).extracting(Delivery::payload).containsExactly(1, 2, 4);
            group.ack(batch.token());
            assertThat(group.pop(10, LONG))
                    .as("the other one of b waits for its dead letter")
                    .isEmpty();
        }
        assertThat(database.query("select text, attempts from trunkline.dead_letters order by id"))
                .containsExactly("x|1", "y|1");
        assertThat(lag()).isZero();
    }

    @Test
    void waiting_ends_when_another_process_has_published() throws Exception {
        try (Trunkline waiting = database.options()
                .backgroundWork(false)
                .pollInterval(Duration.ofMinutes(10))
                .open()) {
            PullConsumer<String> group = waiting.pull("g", "t", String.class, FROM_BEGINNING);
            assertThat(group.pop(10, LONG, Duration.ofMillis(1))).isEmpty();
            CompletableFuture<Optional<Batch<String>>> popped = CompletableFuture.supplyAsync(() -> {
                try {
                    return group.pop(10, LONG, Duration.ofMinutes(5));
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            publish("a 0");
            assertThat(texts(popped.get().orElseThrow())).containsExactly("a 0");
        }
    }

    @Test
    void a_group_has_handlers_or_is_pulled_from() {
        pull(FROM_BEGINNING);
        assertThatThrownBy(() -> database.query("select subscription from trunkline.subscribe('g', 't', 'NOW')"))
                .hasMessageContaining("group \"g\" of topic \"t\" is pulled from");
        database.query("select subscription from trunkline.subscribe('h', 't', 'NOW')");
        assertThatThrownBy(() -> trunkline.pull("h", "t", String.class, FROM_BEGINNING))
                .isInstanceOf(ConsumerGroupException.class)
                .hasMessageContaining("group \"h\" of topic \"t\" has handlers");
        assertThatThrownBy(() -> database.query("select * from trunkline.pop('h', 't', 1, '1 minute')"))
                .hasMessageContaining("group \"h\" of topic \"t\" has handlers");
    }

    @Test
    void the_first_start_and_the_first_settings_stay() {
        publish("a 0");
        pull(PullOptions.fromNow().withAttempts(2));
        PullConsumer<String> group = pull(FROM_BEGINNING.withAttempts(7));
        assertThat(group.pop(10, LONG)).isEmpty();
        publish("a 1");
        assertThat(texts(pop(group, 10))).containsExactly("a 1");
        assertThat(database.query("select attempts, stop_key, mode from trunkline.subscription"))
                .containsExactly("2|t|PULL");
    }

    @Test
    void a_queue_has_one_group_which_is_called_shared() {
        trunkline.topics().create(TopicConfiguration.queue("q").withPartitions(1));
        PullConsumer<String> group = trunkline.pull("shared", "q", String.class, FROM_BEGINNING);
        trunkline.publisher().publish(Message.of("q", "job"));
        Batch<String> batch = pop(group, 1);
        assertThat(texts(batch)).containsExactly("job");
        group.ack(batch.token());
        assertThatThrownBy(() -> trunkline.pull("named", "q", String.class, FROM_BEGINNING))
                .isInstanceOf(ConsumerGroupException.class)
                .hasMessageContaining("queue");
    }

    @Test
    void a_long_history_that_a_group_does_not_want_is_worked_off_in_several_pops() {
        database.execute(
                "create or replace function trunkline.pull_rounds() returns int language sql immutable return 2");
        database.query(
                "select count(trunkline.publish('t', i::text, key => 'unwanted')) from generate_series(1, 5000) i");
        database.query("select trunkline.publish('t', 'here'::text, key => 'wanted')");
        trunkline.relayNow();
        database.query("select trunkline.subscribe_pull('g', 't', 'BEGINNING', a_keys => array['wanted'])");
        List<String> lags = new ArrayList<>();
        String popped;
        do {
            popped = database.query("select coalesce(min(text), '') from (select convert_from(payload, 'UTF8') as text"
                            + " from trunkline.pop('g', 't', 10, '1 minute')) p")
                    .getFirst();
            lags.addAll(database.query("select lag from trunkline.lag('g', 't')"));
        } while (popped.isEmpty() && lags.size() < 100);
        assertThat(popped).isEqualTo("here");
        assertThat(lags).containsExactly("2981", "961", "1");
    }

    @Test
    void what_a_group_has_passed_over_is_not_remembered_as_failed() {
        PullConsumer<String> group = pull(FROM_BEGINNING);
        publish("a 0", "b 1", "c 2");
        group.nack(pop(group, 1).token(), Duration.ofHours(1), "no");
        Batch<String> open = pop(group, 1);
        assertThat(texts(open)).containsExactly("b 1");
        assertThat(database.query("select trunkline.pass_over(1, array[2], 'FORCED')"))
                .containsExactly("2");
        assertThat(database.number("select count(*) from trunkline.attempt")).isZero();
        group.nack(open.token(), Duration.ZERO, "no");
        assertThat(database.number("select count(*) from trunkline.attempt")).isZero();
        assertThat(texts(pop(group, 10))).containsExactly("c 2");
    }

    @Test
    void a_batch_can_be_settled_after_its_topic_has_become_a_queue_and_pub_sub_again() {
        trunkline.topics().create(TopicConfiguration.pubSub("q").withPartitions(1));
        PullConsumer<String> named = trunkline.pull("emails", "q", String.class, FROM_BEGINNING);
        trunkline.publisher().publish(Message.of("q", "a"));
        trunkline.publisher().publish(Message.of("q", "b"));
        Batch<String> batch = pop(named, 2);
        database.query("select trunkline.alter_topic('q', semantics => 'QUEUE')");
        assertThat(named.ack(batch.token(), List.of(0L))).containsExactly(1L);
        database.query("select trunkline.alter_topic('q', semantics => 'PUB_SUB')");
        assertThatThrownBy(() -> trunkline
                        .pull("other", "q", String.class, FROM_BEGINNING)
                        .ack(batch.token()))
                .isInstanceOf(ConsumerGroupException.class)
                .hasMessageContaining("of another group");
        trunkline.pull("shared", "q", String.class, FROM_BEGINNING).ack(batch.token());
        assertThat(database.number("select sum(lag) from trunkline.lag('shared', 'q')"))
                .isZero();
    }

    @Test
    void a_paused_group_gives_nothing_and_can_settle_and_a_cancelled_one_can_do_nothing() {
        PullConsumer<String> group = pull(FROM_BEGINNING);
        publish("a 0");
        String token = pop(group, 10).token();
        database.query("select trunkline.set_status(1, 'PAUSED')");
        assertThat(group.ack(token, List.of(0L))).isEmpty();
        publish("a 1");
        assertThat(group.pop(10, LONG)).isEmpty();
        database.query("select trunkline.set_status(1, 'ACTIVE')");
        String last = pop(group, 10).token();
        database.query("select trunkline.set_status(1, 'CANCELLED')");
        assertThatThrownBy(() -> group.ack(last))
                .isInstanceOf(ConsumerGroupException.class)
                .hasMessageContaining("cancelled");
        assertThatThrownBy(() -> group.pop(10, LONG))
                .isInstanceOf(ConsumerGroupException.class)
                .hasMessageContaining("cancelled");
        PullConsumer<String> anew = pull(FROM_BEGINNING);
        assertThat(texts(pop(anew, 10))).containsExactly("a 0", "a 1");
    }

    @Test
    void what_makes_no_sense_is_refused_and_changes_nothing() {
        PullConsumer<String> group = pull(FROM_BEGINNING);
        PullConsumer<String> other = trunkline.pull("other", "t", String.class, FROM_BEGINNING);
        publish("a 0", "b 1");
        String token = pop(group, 10).token();
        Map<String, Runnable> calls = new HashMap<>();
        calls.put("batch of 0 messages", () -> group.pop(0, LONG));
        calls.put("batch of 10001 messages", () -> group.pop(10_001, LONG));
        calls.put("a lease of 00:00:00 is", () -> group.pop(1, Duration.ZERO));
        calls.put("a lease of -00:00:01", () -> group.extend(token, Duration.ofSeconds(-1)));
        calls.put("a lease of 24:00:01", () -> group.pop(1, Duration.ofDays(1).plusSeconds(1)));
        calls.put("a lease of 24000:00:00", () -> group.pop(1, Duration.ofSeconds(Long.MAX_VALUE)));
        calls.put("a delay of -00:00:01", () -> group.nack(token, Duration.ofSeconds(-1), "no"));
        calls.put("offset 7 is not in this batch", () -> group.ack(token, List.of(0L, 7L)));
        calls.put("offset -1 is not in this batch", () -> group.nack(token, List.of(-1L), Duration.ZERO, "no"));
        calls.put("no batch with token \"nonsense\"", () -> group.ack("nonsense"));
        calls.put("no batch with token \"\"", () -> group.ack(""));
        calls.put("no batch with token \"1-0-1-00", () -> group.ack("1-0-1-00000000-0000-0000-0000-000000000000"));
        calls.put("no batch with token \"1-0-2-00", () -> group.ack("1-0-2-00000000-0000-0000-0000-000000000000"));
        calls.put("no batch with token \"99-0-1", () -> group.ack("99-0-1-00000000-0000-0000-0000-000000000000"));
        calls.put("is of another group", () -> other.ack(token));
        calls.forEach((message, call) -> assertThatThrownBy(call::run)
                .as(message)
                .isInstanceOf(ConsumerGroupException.class)
                .hasMessageContaining(message));
        assertThatThrownBy(() -> trunkline.pull("g", "nowhere", String.class, FROM_BEGINNING))
                .isInstanceOf(UnknownTopicException.class);
        assertThatThrownBy(() -> FROM_BEGINNING.withAttempts(0)).isInstanceOf(IllegalArgumentException.class);
        Map.of(
                        "select * from trunkline.pop('g', 'nowhere', 1, '1 minute')",
                        "no topic \"nowhere\"",
                        "select * from trunkline.pop('nobody', 't', 1, '1 minute')",
                        "no group \"nobody\"",
                        "select * from trunkline.pop('g', 't', null, '1 minute')",
                        "batch of null messages",
                        "select * from trunkline.pop('g', 't', 1, null)",
                        "a lease of null",
                        "select trunkline.ack(null)",
                        "no batch with token",
                        "select trunkline.nack('" + token + "', a_delay => null)",
                        "a delay of null",
                        "select trunkline.ack('" + token + "', array[null]::bigint[])",
                        "offset null",
                        "select trunkline.subscribe_pull('g', 't', 'LATER')",
                        "\"LATER\" is no place to start",
                        "select trunkline.subscribe_pull('g', 't', 'NOW', 0)",
                        "tried 0 times")
                .forEach((sql, message) ->
                        assertThatThrownBy(() -> database.query(sql)).hasMessageContaining(message));
        assertThat(group.ack(token, List.of())).containsExactly(0L, 1L);
        assertThat(group.nack(token, List.of(), Duration.ZERO, "none")).containsExactly(0L, 1L);
        group.ack(token);
        assertThatThrownBy(() -> group.extend(token, LONG)).hasMessageContaining("nothing is left");
        assertThatThrownBy(() -> group.ack(token, List.of(0L))).hasMessageContaining("offset 0 is not in this batch");
        assertThat(database.number("select count(*) from trunkline.attempt")).isZero();
    }

    @Test
    void other_isolation_levels_are_refused() throws SQLException {
        PullConsumer<String> group = pull(FROM_BEGINNING);
        publish("a 0");
        String token = pop(group, 1).token();
        try (Connection connection = database.connect()) {
            connection.setAutoCommit(false);
            connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            assertThatThrownBy(() -> group.ack(connection, token)).hasMessageContaining("READ COMMITTED");
            connection.rollback();
            assertThatThrownBy(() ->
                            TestDatabase.query(connection, "select * from trunkline.pop('g', 't', 1, '1 minute')"))
                    .hasMessageContaining("READ COMMITTED");
            connection.rollback();
        }
    }

    @Test
    void grants_and_progress_rotate_and_an_idle_group_keeps_no_rows() {
        PullConsumer<String> group = pull(FROM_BEGINNING);
        publish("a 0", "b 1", "c 2");
        group.ack(pop(group, 1).token());
        String token = pop(group, 1).token();
        rotate();
        rotate();
        rotate();
        assertThat(group.pop(1, LONG)).as("the batch is still open").isEmpty();
        group.extend(token, LONG);
        rotate();
        assertThat(group.ack(token, List.of(1L))).isEmpty();
        Batch<String> third = pop(group, 1);
        assertThat(texts(third)).containsExactly("c 2");
        assertThat(third.deliveries().getFirst().epoch()).isEqualTo(3);
        group.ack(third.token());
        for (int i = 0; i < 6; i++) {
            rotate();
        }
        assertThat(database.query(
                        "select (select count(*) from trunkline.grant_0), (select count(*) from trunkline.grant_1),"
                                + " (select count(*) from trunkline.progress)"))
                .containsExactly("0|0|0");
        assertThat(database.number("select count(*) from trunkline.grant_base")).isEqualTo(1);
        assertThat(lag()).isZero();
        assertThatThrownBy(() -> group.ack(token)).isInstanceOf(LeaseExpiredException.class);
        publish("a 3");
        assertThat(pop(group, 1).deliveries().getFirst().epoch()).isEqualTo(4);
    }

    private void rotate() {
        database.query("select trunkline.rotate_progress('0', clock_timestamp() + interval '1 second')");
    }

    @Test
    void retention_keeps_what_a_group_has_not_done() {
        PullConsumer<String> group = pull(FROM_BEGINNING);
        publish("a 0", "b 1");
        database.query("select trunkline.roll_segment(1)");
        database.execute("update trunkline.topic set retention = '1 microsecond'");
        String token = pop(group, 10).token();
        group.ack(token, List.of(0L));
        database.query("select trunkline.upkeep('trim', 1)");
        assertThat(database.number("select count(*) from trunkline.segment")).isEqualTo(2);
        group.ack(token);
        database.query("select trunkline.upkeep('trim', 1)");
        assertThat(database.number("select count(*) from trunkline.segment")).isEqualTo(1);
        publish("a 2");
        assertThat(texts(pop(group, 10))).containsExactly("a 2");
    }

    @Test
    void nothing_is_updated_and_an_idle_pop_writes_nothing() throws SQLException {
        pull(FROM_BEGINNING);
        for (int i = 0; i < 50; i++) {
            publish("a " + i);
        }
        try (Connection old = database.connect();
                Connection caller = database.connect()) {
            old.setAutoCommit(false);
            old.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            TestDatabase.query(old, "select count(*) from trunkline.holder");
            // Not by its statistics: who created it may tell of that only now.
            List<String> holders = database.query("select partition, xmin from trunkline.holder order by 1");
            for (int i = 0; i < 50; i++) {
                String token = TestDatabase.query(caller, "select token from trunkline.pop('g', 't', 1, '1 minute')")
                        .getFirst();
                TestDatabase.query(caller, "select trunkline.extend(?, '2 minutes')", token);
                TestDatabase.query(caller, "select trunkline.ack(?)", token);
            }
            caller.setAutoCommit(false);
            assertThat(TestDatabase.query(caller, "select token from trunkline.pop('g', 't', 1, '1 minute')"))
                    .isEmpty();
            assertThat(TestDatabase.query(caller, "select pg_current_xact_id_if_assigned()"))
                    .containsExactly("null");
            caller.commit();
            TestDatabase.query(caller, "select pg_stat_force_next_flush()");
            caller.commit();
            assertThat(database.query("select partition, xmin from trunkline.holder order by 1"))
                    .isEqualTo(holders);
        }
        Awaitility.await().until(() -> stat("grant_0", "n_tup_ins") == 150);
        for (String table : List.of("grant_0", "grant_1", "grant_base", "progress_0")) {
            assertThat(stat(table, "n_tup_upd") + stat(table, "n_tup_del"))
                    .as(table)
                    .isZero();
        }
    }

    private long stat(String table, String column) {
        return database.number(
                "select " + column + " from pg_stat_user_tables where schemaname = 'trunkline' and relname = ?", table);
    }

    @Test
    void app_may_pull_and_nobody_writes_grants_by_hand() throws SQLException {
        pull(FROM_BEGINNING.withAttempts(1));
        publish("a 0", "b 1", "c 2", "a 3");
        String user = "puller_of_" + database.name();
        database.execute("create role " + user + " login password 'secret'");
        database.execute("grant trunkline_app to " + user);
        try (Connection connection = DriverManager.getConnection(database.url(), user, "secret")) {
            TestDatabase.query(connection, "select * from trunkline.subscribe_pull('g', 't')");
            String token = TestDatabase.query(connection, "select token from trunkline.pop('g', 't', 10, '1 minute')")
                    .getFirst();
            TestDatabase.query(connection, "select trunkline.extend(?, '2 minutes')", token);
            TestDatabase.query(connection, "select trunkline.nack(?, array[0])", token);
            TestDatabase.query(connection, "select trunkline.reject(?, array[1])", token);
            TestDatabase.query(connection, "select trunkline.ack(?)", token);
            assertThat(TestDatabase.query(connection, "select token from trunkline.pop('g', 't', 10, '1 minute')"))
                    .isEmpty();
            assertThat(TestDatabase.query(connection, "select count(*) from trunkline.parked"))
                    .containsExactly("1");
            assertThat(TestDatabase.query(connection, "select count(*) from trunkline.open_batches"))
                    .containsExactly("0");
            for (String forbidden : List.of(
                    "insert into trunkline.grant_0 select * from trunkline.grants",
                    "select trunkline.append_grant(g) from trunkline.grants g",
                    "select trunkline.append_done(1, 0, 9, 9, '{[0,100)}')",
                    "select trunkline.fold_grants(0)",
                    "select trunkline.carry_out_in(1, array[0])")) {
                assertThatThrownBy(() -> TestDatabase.query(connection, forbidden))
                        .as(forbidden)
                        .isInstanceOfSatisfying(
                                SQLException.class,
                                e -> assertThat(e.getSQLState()).isEqualTo("42501"));
            }
        }
    }

    private PullConsumer<String> pull(PullOptions options) {
        return trunkline.pull("g", "t", String.class, options);
    }

    /** Publishes texts whose first word is their key. */
    private void publish(String... texts) {
        for (String text : texts) {
            trunkline.publisher().publish(Message.of("t", text).withKey(text.substring(0, text.indexOf(' '))));
        }
    }

    private static <T> Batch<T> pop(PullConsumer<T> group, int max) {
        return group.pop(max, LONG).orElseThrow();
    }

    private static List<String> texts(Batch<String> batch) {
        return batch.deliveries().stream().map(Delivery::payload).toList();
    }

    private static List<Integer> attempts(Batch<String> batch) {
        return batch.deliveries().stream().map(Delivery::attempt).toList();
    }

    private void makeDue() {
        database.execute("update trunkline.attempt set due_at = clock_timestamp()");
    }

    private List<String> deadLetters() {
        return database.query("select text, attempts, error, stops_key from trunkline.dead_letters order by id");
    }

    private long lag() {
        return database.number("select sum(lag) from trunkline.lag('g', 't')");
    }
}
