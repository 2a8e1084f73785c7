package dev.trunkline.behaviour;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.trunkline.Batch;
import dev.trunkline.Batching;
import dev.trunkline.ConsumerGroup;
import dev.trunkline.ConsumerGroupException;
import dev.trunkline.Message;
import dev.trunkline.PullConsumer;
import dev.trunkline.PullOptions;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.testing.Popped;
import dev.trunkline.testing.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Groups that want some keys of a topic only. */
@Timeout(300)
class KeysTest {

    private final TestDatabase database = TestDatabase.fresh();
    private final List<Trunkline> processes = new ArrayList<>();
    private final List<String> seen = new CopyOnWriteArrayList<>();
    private final Trunkline trunkline = process();

    @BeforeEach
    void create() {
        trunkline.topics().create(TopicConfiguration.pubSub("t").withPartitions(1));
    }

    @AfterEach
    void close() {
        processes.forEach(Trunkline::close);
    }

    private Trunkline process() {
        Trunkline process = database.options()
                .backgroundWork(false)
                .lease(Duration.ofSeconds(3))
                .open();
        processes.add(process);
        return process;
    }

    private void publish(String... keysAndNumbers) {
        for (String each : keysAndNumbers) {
            trunkline.publisher().publish(Message.of("t", each).withKey(each.substring(0, 1)));
        }
    }

    private ConsumerGroup<String> start(Trunkline process, SubscriptionOptions options) {
        return process.createConsumerGroup("g", "t", String.class)
                .addConsumer("c", delivery -> seen.add(delivery.payload()))
                .start(options);
    }

    private static SubscriptionOptions keys(String... keys) {
        return SubscriptionOptions.fromBeginning().withKeys(Set.of(keys));
    }

    private void await(int count) {
        Awaitility.await().until(() -> seen.size() >= count);
    }

    private void awaitNothingPending() {
        Awaitility.await()
                .until(() -> database.number("select pending from trunkline.groups where group_name = 'g'") == 0);
    }

    @Test
    void only_its_keys_are_handled_and_the_others_are_done() {
        publish("a1", "b1", "c1", "a2");
        trunkline.publisher().publish(Message.of("t", "of no key"));
        try (ConsumerGroup<String> group = start(trunkline, keys("a", "c"))) {
            publish("b2", "c2");
            await(4);
            awaitNothingPending();
            assertThat(group.metrics().handled()).isEqualTo(4);
        }
        assertThat(seen).containsExactlyInAnyOrder("a1", "c1", "a2", "c2");
    }

    @Test
    void a_key_that_is_added_comes_from_the_end_of_the_log_on_and_none_of_it_is_passed_over() {
        publish("a1", "b1");
        try (ConsumerGroup<String> old = start(trunkline, keys("a"))) {
            await(1);
            awaitNothingPending();
            // The owner still knows of one key only; what it does until it knows of the other must not count.
            try (ConsumerGroup<String> more = start(process(), keys("a", "b"))) {
                publish("b2", "a2", "b3");
                Awaitility.await().until(() -> seen.containsAll(List.of("a2", "b2", "b3")));
                awaitNothingPending();
                assertThat(old.metrics().handled() + more.metrics().handled()).isGreaterThanOrEqualTo(4);
            }
        }
        // What the old owner had under way may come twice.
        assertThat(Set.copyOf(seen)).containsExactlyInAnyOrder("a1", "a2", "b2", "b3");
    }

    @Test
    void an_owner_that_does_not_know_of_a_key_can_not_record_that_it_passed_over_its_messages() {
        database.query("select trunkline.subscribe('g', 't', 'BEGINNING', a_keys => '{a}')");
        long session = database.number("select trunkline.begin_session('s')");
        database.query("select trunkline.take(?, 1, 1)", session);
        database.query("select trunkline.subscribe('g', 't', 'BEGINNING', a_keys => '{b}')");
        publish("b1");
        assertThat(database.query(
                        "select trunkline.record(?, '{1}', '{0}', '{0}', '{1}', '{1}', array['{[0,1)}'])", session))
                .containsExactly("null");
        try (ConsumerGroup<String> group = start(trunkline, keys("a"))) {
            database.query("select trunkline.end_session(?)", session);
            await(1);
            awaitNothingPending();
            assertThat(group.metrics().handled()).isOne();
        }
    }

    @Test
    void those_who_come_back_need_not_name_their_keys() {
        start(trunkline, keys("a")).close();
        try (ConsumerGroup<String> group = start(trunkline, SubscriptionOptions.fromBeginning())) {
            publish("b1", "a1");
            await(1);
            awaitNothingPending();
            assertThat(group.metrics().handled()).isOne();
        }
        assertThat(seen).containsExactly("a1");
    }

    @Test
    void who_has_all_keys_can_not_want_some() {
        start(trunkline, SubscriptionOptions.fromBeginning()).close();
        assertThatThrownBy(() -> start(trunkline, keys("a")))
                .isInstanceOf(ConsumerGroupException.class)
                .hasMessageContaining("group \"g\" has all keys of topic \"t\"");
        assertThatThrownBy(() -> database.query("select trunkline.subscribe('h', 't', 'NOW', a_keys => '{}')"))
                .hasMessageContaining("names them");
    }

    @Test
    void who_pulls_is_given_its_keys_only() {
        publish("a1", "b1", "a2");
        PullConsumer<String> consumer = trunkline.pull(
                "g", "t", String.class, PullOptions.fromBeginning().withKeys(Set.of("a")));
        assertThat(Popped.all(consumer)).containsExactly("a1", "a2");
        trunkline.pull("g", "t", String.class, PullOptions.fromBeginning().withKeys(Set.of("b")));
        publish("c1", "b2", "a3");
        assertThat(Popped.all(consumer)).containsExactly("b2", "a3");
        publish("c2", "c3");
        assertThat(Popped.all(consumer)).isEmpty();
        awaitNothingPending();
    }

    @Test
    void who_pulls_much_at_once_is_given_its_keys_only() {
        publish(IntStream.range(0, 1_100).mapToObj(n -> "a" + n).toArray(String[]::new));
        publish("b1", "a1100");
        PullConsumer<String> consumer = trunkline.pull(
                "g", "t", String.class, PullOptions.fromBeginning().withKeys(Set.of("a")));
        Batch<String> batch = consumer.pop(2_000, Duration.ofSeconds(30)).orElseThrow();
        assertThat(batch.deliveries())
                .hasSize(1_101)
                .allMatch(delivery -> delivery.payload().startsWith("a"));
    }

    @Test
    void a_unit_of_work_that_ends_with_a_key_that_is_not_wanted_is_handled() throws SQLException {
        try (Connection connection = database.connect()) {
            connection.setAutoCommit(false);
            for (String each : List.of("a1", "b1")) {
                trunkline.publisher().publish(connection, Message.of("t", each).withKey(each.substring(0, 1)));
            }
            connection.commit();
        }
        trunkline.relayNow();
        try (ConsumerGroup<String> group = trunkline
                .createConsumerGroup("g", "t", String.class)
                .addTransactionalConsumer("c", (delivery, connection) -> seen.add(delivery.payload()))) {
            group.start(keys("a").withBatching(Batching.ofUnitsOfWork(10)));
            awaitNothingPending();
        }
        assertThat(seen).containsExactly("a1");
    }
}
