package dev.trunkline.race;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.trunkline.Batch;
import dev.trunkline.ConsumerGroupException;
import dev.trunkline.Delivery;
import dev.trunkline.LeaseExpiredException;
import dev.trunkline.Message;
import dev.trunkline.PullConsumer;
import dev.trunkline.PullOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.testing.Seed;
import dev.trunkline.testing.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Callers that pull from one partition at the same time: either the one or its successor wins, never both. */
@Timeout(300)
class PullRaceTest {

    private static final Duration LONG = Duration.ofMinutes(10);
    private static final Duration MOMENT = Duration.ofNanos(1_000);
    private static final String POP =
            "select token, convert_from(payload, 'UTF8'), attempt from trunkline.pop('g', 't', 2, '10 minutes')";

    private final TestDatabase database = TestDatabase.fresh();
    private Trunkline trunkline;
    private PullConsumer<String> group;
    private volatile boolean over;

    @BeforeEach
    void open() {
        trunkline = database.open();
        trunkline.topics().create(TopicConfiguration.pubSub("t").withPartitions(1));
        group = trunkline.pull("g", "t", String.class, PullOptions.fromBeginning());
        for (int i = 0; i < 4; i++) {
            trunkline.publisher().publish(Message.of("t", "m" + i).withKey("k"));
        }
    }

    @AfterEach
    void close() {
        trunkline.close();
    }

    @Test
    void of_two_that_pop_at_once_one_gets_the_partition_and_the_other_does_not_wait() throws SQLException {
        try (Connection one = transaction();
                Connection two = transaction()) {
            assertThat(TestDatabase.query(one, POP)).hasSize(2);
            assertThat(TestDatabase.query(two, POP)).isEmpty();
            one.commit();
            assertThat(TestDatabase.query(two, POP)).isEmpty();
        }
    }

    @Test
    void a_pop_that_was_not_committed_never_happened() throws SQLException {
        try (Connection one = transaction()) {
            assertThat(TestDatabase.query(one, POP)).hasSize(2);
            cut(one);
        }
        // The server notices in its own time.
        Awaitility.await()
                .until(() -> group.pop(2, LONG)
                        .map(batch -> batch.deliveries().getFirst())
                        .filter(delivery -> delivery.epoch() == 1 && delivery.attempt() == 1)
                        .isPresent());
    }

    @Test
    void an_acknowledgement_that_was_not_committed_never_happened() throws SQLException {
        Batch<String> batch = group.pop(2, MOMENT).orElseThrow();
        try (Connection one = transaction()) {
            group.ack(one, batch.token());
            assertThat(group.pop(2, LONG)).as("somebody is settling it").isEmpty();
            cut(one);
        }
        Awaitility.await()
                .until(() -> group.pop(2, LONG)
                        .map(again -> again.deliveries().getFirst())
                        .filter(delivery -> delivery.payload().equals("m0") && delivery.attempt() == 2)
                        .isPresent());
        assertThatThrownBy(() -> group.ack(batch.token())).isInstanceOf(LeaseExpiredException.class);
    }

    @Test
    void an_acknowledgement_that_came_first_wins_over_the_next_pop() throws SQLException {
        Batch<String> batch = group.pop(2, MOMENT).orElseThrow();
        try (Connection one = transaction()) {
            group.ack(one, batch.token());
            assertThat(group.pop(2, LONG)).isEmpty();
            one.commit();
        }
        assertThat(texts(group.pop(2, LONG))).containsExactly("m2", "m3");
    }

    @Test
    void a_pop_that_came_first_wins_over_the_late_acknowledgement() throws Exception {
        Batch<String> batch = group.pop(2, MOMENT).orElseThrow();
        try (Connection two = transaction()) {
            assertThat(TestDatabase.query(two, POP)).hasSize(2);
            CompletableFuture<Void> ack = CompletableFuture.runAsync(() -> group.ack(batch.token()));
            awaitWaiting();
            two.commit();
            assertThatThrownBy(ack::get)
                    .isInstanceOf(ExecutionException.class)
                    .cause()
                    .isInstanceOf(LeaseExpiredException.class)
                    .hasMessageContaining("is at epoch 2");
        }
        assertThat(database.number("select sum(lag) from trunkline.lag('g', 't')"))
                .isEqualTo(4);
    }

    @Test
    void a_pop_that_is_rolled_back_lets_the_late_acknowledgement_win() throws Exception {
        Batch<String> batch = group.pop(2, MOMENT).orElseThrow();
        try (Connection two = transaction()) {
            assertThat(TestDatabase.query(two, POP)).hasSize(2);
            CompletableFuture<Void> ack = CompletableFuture.runAsync(() -> group.ack(batch.token()));
            awaitWaiting();
            two.rollback();
            ack.get();
        }
        assertThat(texts(group.pop(2, LONG))).containsExactly("m2", "m3");
        assertThat(database.number("select count(*) from trunkline.attempt")).isZero();
    }

    @Test
    void an_extension_that_came_first_keeps_the_batch() throws SQLException {
        Batch<String> batch = group.pop(2, MOMENT).orElseThrow();
        try (Connection one = transaction()) {
            TestDatabase.query(one, "select trunkline.extend(?, '10 minutes')", batch.token());
            assertThat(group.pop(2, LONG)).isEmpty();
            one.commit();
        }
        assertThat(group.pop(2, LONG)).isEmpty();
        group.ack(batch.token());
    }

    @Test
    void of_a_release_and_an_acknowledgement_the_first_wins() throws Exception {
        Batch<String> batch = group.pop(2, LONG).orElseThrow();
        try (Connection one = transaction()) {
            TestDatabase.query(one, "select trunkline.release(?)", batch.token());
            CompletableFuture<List<Long>> ack =
                    CompletableFuture.supplyAsync(() -> group.ack(batch.token(), List.of(0L)));
            awaitWaiting();
            assertThat(group.pop(2, LONG)).as("somebody is settling it").isEmpty();
            one.commit();
            assertThatThrownBy(ack::get)
                    .cause()
                    .isInstanceOf(ConsumerGroupException.class)
                    .hasMessageContaining("offset 0 is not in this batch, or no longer");
        }
        Batch<String> again = group.pop(2, LONG).orElseThrow();
        assertThat(texts(Optional.of(again))).containsExactly("m0", "m1");
        assertThat(again.deliveries().getFirst().attempt()).isOne();
        assertThat(again.deliveries().getFirst().epoch()).isEqualTo(2);
        try (Connection one = transaction()) {
            group.ack(one, again.token());
            CompletableFuture<List<Long>> release =
                    CompletableFuture.supplyAsync(() -> group.release(again.token(), List.of(0L)));
            awaitWaiting();
            one.commit();
            assertThatThrownBy(release::get)
                    .cause()
                    .isInstanceOf(ConsumerGroupException.class)
                    .hasMessageContaining("offset 0 is not in this batch, or no longer");
        }
        assertThat(texts(group.pop(2, LONG))).containsExactly("m2", "m3");
    }

    @Test
    void a_release_that_was_not_committed_never_happened() throws SQLException {
        Batch<String> batch = group.pop(2, LONG).orElseThrow();
        try (Connection one = transaction()) {
            TestDatabase.query(one, "select trunkline.release(?)", batch.token());
            one.rollback();
        }
        assertThat(group.pop(2, LONG)).isEmpty();
        group.ack(batch.token());
    }

    @Test
    void a_pop_that_came_first_wins_over_the_late_release() throws Exception {
        Batch<String> batch = group.pop(2, MOMENT).orElseThrow();
        try (Connection two = transaction()) {
            assertThat(TestDatabase.query(two, POP)).hasSize(2);
            CompletableFuture<Void> release = CompletableFuture.runAsync(() -> group.release(batch.token()));
            awaitWaiting();
            two.commit();
            assertThatThrownBy(release::get).cause().isInstanceOf(LeaseExpiredException.class);
        }
        assertThat(group.pop(2, LONG)).as("it is the other's").isEmpty();
        assertThat(database.number("select attempts from trunkline.attempt where \"offset\" = 0"))
                .isOne();
    }

    @Test
    void a_release_that_came_first_is_not_counted_although_the_lease_ran_out() throws Exception {
        Batch<String> batch = group.pop(2, MOMENT).orElseThrow();
        group.release(batch.token());
        assertThat(group.pop(2, LONG).orElseThrow().deliveries().getFirst().attempt())
                .isOne();
        assertThat(database.number("select count(*) from trunkline.attempt")).isZero();
    }

    @Test
    void whoever_takes_a_partition_over_otherwise_fences_the_batch() {
        Batch<String> batch = group.pop(2, LONG).orElseThrow();
        database.execute("update trunkline.holder set epoch = 7");
        assertThatThrownBy(() -> group.ack(batch.token()))
                .isInstanceOf(LeaseExpiredException.class)
                .hasMessageContaining("is at epoch 7");
        Delivery<String> next = group.pop(2, LONG).orElseThrow().deliveries().getFirst();
        assertThat(next.epoch()).isEqualTo(8);
        assertThat(next.attempt()).as("nobody is to blame").isEqualTo(1);
    }

    /** Waits until somebody waits for a lock in this database. */
    private void awaitWaiting() {
        Awaitility.await()
                .until(() -> database.number("select count(*) from pg_stat_activity where datname = current_database()"
                                + " and wait_event_type = 'Lock'")
                        > 0);
    }

    /** As if the process had died. */
    private void cut(Connection connection) throws SQLException {
        String pid = TestDatabase.query(connection, "select pg_backend_pid()").getFirst();
        database.query("select pg_terminate_backend(?)", Integer.valueOf(pid));
    }

    /** Who waits for himself fails in the end. */
    private Connection transaction() throws SQLException {
        Connection connection = database.connect();
        TestDatabase.query(connection, "set statement_timeout = '30s'");
        connection.setAutoCommit(false);
        return connection;
    }

    private static List<String> texts(Optional<Batch<String>> batch) {
        return batch.orElseThrow().deliveries().stream().map(Delivery::payload).toList();
    }

    /**
     * Callers of two processes pop, acknowledge all or a part in the transaction of their effects, hand back, release, extend, let leases run out and lose
     * connections, at random; what becomes a dead letter is redriven. Each message has its effect once, each key in order, and no batch was given
     * while another was open.
     */
    @ParameterizedTest
    @ValueSource(ints = {2, 1_000})
    void whatever_callers_do_each_message_has_its_effect_once_and_each_key_in_order(int attempts) throws Exception {
        long seed = Seed.next();
        int keys = 7;
        int perKey = 40;
        trunkline.topics().create(TopicConfiguration.pubSub("model").withPartitions(3));
        database.execute(
                "create table effect (id bigint generated always as identity primary key, key text, number int)");
        PullOptions options = PullOptions.fromBeginning().withAttempts(attempts);
        try (Trunkline other = database.open();
                ExecutorService callers = Executors.newFixedThreadPool(6)) {
            List<PullConsumer<String>> groups = List.of(
                    trunkline.pull("g", "model", String.class, options),
                    other.pull("g", "model", String.class, options));
            List<Future<?>> running = new ArrayList<>();
            for (int caller = 0; caller < 6; caller++) {
                Caller next = new Caller(groups.get(caller % 2), new Random(seed + caller));
                running.add(callers.submit(() -> next.run(keys * perKey)));
            }
            try {
                for (int i = 0; i < perKey; i++) {
                    List<Message> messages = new ArrayList<>();
                    for (int key = 0; key < keys; key++) {
                        messages.add(Message.of("model", Integer.toString(i)).withKey("k" + key));
                    }
                    trunkline.publisher().publishAll(messages);
                    if (i % 10 == 5) {
                        database.query("select trunkline.roll_segment(2)");
                        Awaitility.await().until(this::rotates);
                    }
                }
                Awaitility.await().atMost(Duration.ofMinutes(4)).until(() -> {
                    database.query("select trunkline.redrive('g', 'model')");
                    return running.stream().anyMatch(caller -> caller.state() == Future.State.FAILED)
                            || running.stream().allMatch(Future::isDone);
                });
                for (Future<?> caller : running) {
                    caller.get();
                }
            } finally {
                over = true;
            }
        }
        for (int key = 0; key < keys; key++) {
            assertThat(database.query("select number from effect where key = ? order by id", "k" + key))
                    .as("seed %d, key %d", seed, key)
                    .containsExactlyElementsOf(java.util.stream.IntStream.range(0, perKey)
                            .mapToObj(Integer::toString)
                            .toList());
        }
        assertThat(database.query("""
                        select g.partition, g.epoch from (
                            select g.*, lag(g.given) over w as given_before, lag(g.expires_at) over w as expired, lag(g.epoch) over w as epoch_before
                            from trunkline.grants g where g.subscription = 2
                            window w as (partition by g.partition order by g.epoch, g.sequence)) g
                        where g.epoch <> g.epoch_before and not isempty(g.given_before) and g.expired > g.granted_at
                        """))
                .as("seed %d: batches that were given while another was open", seed)
                .isEmpty();
        assertThat(
                        database.query(
                                "select (select sum(lag) from trunkline.lag('g', 'model')), (select count(*) from trunkline.attempt),"
                                        + " (select count(*) from trunkline.parked), (select count(*) from trunkline.dead_letter)"))
                .as("seed %d", seed)
                .containsExactly("0|0|0|0");
    }

    /** Goes on to the next slots of grants and progress, or empties the last ones. What is locked is put off, as upkeep does. */
    private boolean rotates() {
        return database.queryWhenUnlocked(
                        "select trunkline.rotate_progress('0', clock_timestamp() + interval '1 second')")
                .equals(List.of("t"));
    }

    private final class Caller {

        private final PullConsumer<String> consumer;
        private final Random random;

        Caller(PullConsumer<String> consumer, Random random) {
            this.consumer = consumer;
            this.random = random;
        }

        /** Goes on until so many effects are there. */
        boolean run(int effects) throws SQLException, InterruptedException {
            while (!over && database.number("select count(*) from effect") < effects) {
                boolean forgetful = random.nextInt(3) == 0;
                Optional<Batch<String>> batch = consumer.pop(
                        1 + random.nextInt(20), forgetful ? MOMENT : Duration.ofSeconds(60), Duration.ofMillis(20));
                if (batch.isPresent()) {
                    try {
                        work(batch.get(), forgetful);
                    } catch (LeaseExpiredException e) {
                        assertThat(forgetful).as(e.getMessage()).isTrue();
                    }
                }
            }
            return true;
        }

        private void work(Batch<String> batch, boolean forgetful) throws SQLException {
            List<Delivery<String>> left = batch.deliveries();
            while (!left.isEmpty()) {
                List<Delivery<String>> some = left.subList(0, 1 + random.nextInt(left.size()));
                List<Long> offsets = offsets(some);
                List<Long> rest = switch (random.nextInt(forgetful ? 7 : 6)) {
                    case 0 -> consumer.nack(batch.token(), offsets, Duration.ofMillis(random.nextInt(3)), "not now");
                    case 1 -> {
                        consumer.extend(batch.token(), forgetful ? MOMENT : Duration.ofSeconds(60));
                        yield offsets(left);
                    }
                    case 2 -> cutOff(batch, some, offsets(left));
                    case 3 -> apply(batch, left);
                    case 4 -> apply(batch, some);
                    case 5 -> consumer.release(batch.token(), offsets);
                    default -> List.of();
                };
                left = left.stream()
                        .filter(delivery -> rest.contains(delivery.message().offset()))
                        .toList();
            }
        }

        private List<Long> apply(Batch<String> batch, List<Delivery<String>> some) throws SQLException {
            try (Connection connection = transaction()) {
                List<Long> rest = effects(connection, batch, some);
                connection.commit();
                return rest;
            }
        }

        private List<Long> cutOff(Batch<String> batch, List<Delivery<String>> some, List<Long> left)
                throws SQLException {
            try (Connection connection = transaction()) {
                effects(connection, batch, some);
                cut(connection);
            }
            return left;
        }

        /** Under the lock of the partition, so that the numbers of effects are in order. */
        private List<Long> effects(Connection connection, Batch<String> batch, List<Delivery<String>> some)
                throws SQLException {
            List<Long> rest = consumer.ack(connection, batch.token(), offsets(some));
            for (Delivery<String> delivery : some) {
                TestDatabase.query(
                        connection,
                        "insert into effect (key, number) values (?, ?::int)",
                        delivery.key(),
                        delivery.payload());
            }
            return rest;
        }

        private List<Long> offsets(List<Delivery<String>> deliveries) {
            return deliveries.stream()
                    .map(delivery -> delivery.message().offset())
                    .toList();
        }
    }
}
