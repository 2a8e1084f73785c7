package dev.trunkline.behaviour;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.trunkline.Batching;
import dev.trunkline.ConsumerGroup;
import dev.trunkline.ConsumerGroupException;
import dev.trunkline.Delivery;
import dev.trunkline.Message;
import dev.trunkline.RetryPolicy;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.testing.TestDatabase;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** P9 for several messages in a transaction: units are never split, a bad one goes to the dead letters and the rest is committed. */
@Timeout(300)
class BatchingTest {

    private final TestDatabase database = TestDatabase.fresh();
    private final Set<String> poison = ConcurrentHashMap.newKeySet();
    private Trunkline trunkline;

    @BeforeEach
    void open() {
        trunkline = database.options().lease(Duration.ofSeconds(3)).open();
        trunkline.topics().create(TopicConfiguration.pubSub("t").withPartitions(2));
        database.execute(
                "create table effect (id bigint generated always as identity primary key, key text, text text not null,"
                        + " unit bigint not null, partition int not null, transaction xid8 not null default pg_current_xact_id())");
    }

    @AfterEach
    void close() {
        trunkline.close();
    }

    @Test
    void a_batch_of_a_partition_is_one_transaction_and_all_happens_once() {
        publishKeys(40, 25);
        start(Batching.ofPartition(50));
        await(1000);
        assertThat(database.number("select count(distinct (key, text)) from effect"))
                .isEqualTo(1000);
        assertThat(database.number("select count(distinct transaction) from effect"))
                .isLessThan(200);
        assertThat(database.number("select max(n) from (select count(*) n from effect group by transaction) x"))
                .isBetween(2L, 50L);
        assertThat(database.number("select count(*) from (select transaction from effect group by transaction"
                        + " having count(distinct partition) > 1) x"))
                .isZero();
        assertKeysInOrder();
    }

    @Test
    void a_batch_of_a_key_is_one_transaction() {
        publishKeys(5, 100);
        start(Batching.ofKey(20));
        await(500);
        assertThat(
                        database.number(
                                "select count(*) from (select transaction from effect group by transaction having count(distinct key) > 1) x"))
                .isZero();
        assertThat(database.number("select count(distinct transaction) from effect"))
                .isLessThan(250);
        assertKeysInOrder();
    }

    @Test
    void a_unit_of_work_is_never_split_even_past_the_size_of_a_batch() throws SQLException {
        publishUnits(1, 7, 3, 30, 2, 12, 1, 1, 25, 4);
        start(Batching.ofUnitsOfWork(10));
        await(86);
        assertThat(database.number("select count(*) from (select unit, partition from effect group by unit, partition"
                        + " having count(distinct transaction) > 1) x"))
                .isZero();
        assertThat(database.number("select max(n) from (select count(*) n from effect group by transaction) x"))
                .isGreaterThan(10);
    }

    @Test
    void a_bad_unit_of_work_is_dead_as_a_whole_and_the_rest_is_committed() throws SQLException {
        publishUnits(4, 4, 4, 4, 4);
        poison.add("2/1");
        start(Batching.ofUnitsOfWork(100));
        await(() -> database.number("select count(*) from trunkline.dead_letter") > 0);
        await(20 - (int) database.number("select count(*) from trunkline.dead_letter"));
        // A unit is what a transaction wrote to one partition.
        assertThat(database.number("select count(*) from trunkline.dead_letter d join effect e on e.unit = d.unit"
                        + " and e.partition = d.strand"))
                .isZero();
        assertThat(database.query("select text from trunkline.dead_letters order by text"))
                .contains("2/1")
                .allMatch(text -> text.startsWith("2/"));
        assertThat(database.number("select sum(lag) from trunkline.lag('g', 't')"))
                .isZero();
    }

    @Test
    void a_bad_message_of_a_batch_is_tried_again_and_nothing_overtakes_it_on_its_key() {
        publishKeys(3, 10);
        poison.add("k1:4");
        start(Batching.ofPartition(100), 1_000);
        await(() -> database.number("select coalesce(max(attempts), 0) from trunkline.attempt") >= 2);
        assertThat(database.query("select text from effect where key = 'k1' order by id"))
                .containsExactly("k1:0", "k1:1", "k1:2", "k1:3");
        poison.clear();
        await(30);
        assertKeysInOrder();
    }

    /** The enemy: the rest of its batch is handled in the same transaction, and its key goes on until another process has it. */
    @Test
    void what_follows_a_dead_letter_in_a_batch_of_its_key_waits_for_it() {
        publishKeys(1, 8);
        poison.add("k0:3");
        start(Batching.ofKey(100), 2);
        await(() -> database.number("select count(*) from trunkline.dead_letter") == 1);
        await(() -> database.number("select sum(lag) from trunkline.lag('g', 't')") == 0);
        assertThat(database.query("select text from effect order by id")).containsExactly("k0:0", "k0:1", "k0:2");
        poison.clear();
        database.number("select trunkline.redrive('g', 't')");
        await(8);
        assertKeysInOrder();
    }

    /** The enemy: much waits behind it, and is set aside by keys, which these batches do not go by. */
    @ParameterizedTest
    @EnumSource(names = {"PARTITION", "WORK"})
    void what_waits_behind_a_message_that_fails_is_handled_when_it_no_longer_does(Batching.Unit unit) {
        publishKeys(10, 10);
        poison.add("k0:0");
        start(new Batching(unit, 10, 1_000), 1_000, 40);
        await(() -> database.number("select coalesce(max(attempts), 0) from trunkline.attempt") >= 5);
        assertThat(database.number("select count(*) from trunkline.parked")).isZero();
        poison.clear();
        await(100);
        assertKeysInOrder();
    }

    /** The enemy: it waits in as many lines as it has keys, and none of them is all of it. */
    @Test
    void a_unit_of_work_that_is_redriven_is_handled_as_a_whole() throws SQLException {
        trunkline.topics().create(TopicConfiguration.pubSub("one").withPartitions(1));
        publishUnits("one", 4, 150, 4);
        poison.add("1/1");
        start("one", Batching.ofUnitsOfWork(10), 1, 2_000);
        await(() -> database.number("select count(*) from trunkline.dead_letter") == 150);
        poison.clear();
        database.number("select trunkline.redrive('g', 'one')");
        await(158);
        assertThat(database.number("select count(distinct transaction) from effect where text like '1/%'"))
                .isOne();
        await(() -> database.number(
                        "select (select count(*) from trunkline.parked) + (select count(*) from trunkline.blocked)")
                == 0);
    }

    @Test
    void a_part_of_a_unit_of_work_can_be_redriven() throws SQLException {
        trunkline.topics().create(TopicConfiguration.pubSub("one").withPartitions(1));
        publishUnits("one", 4, 4);
        poison.addAll(List.of("0/1", "1/1"));
        start("one", Batching.ofUnitsOfWork(10), 1, 2_000);
        await(() -> database.number("select count(*) from trunkline.dead_letter") == 8);
        poison.clear();
        database.number("select trunkline.redrive('g', 'one', array(select id from trunkline.dead_letters"
                + " where text in ('0/0', '0/2', '1/0', '1/1')))");
        await(4);
        assertThat(database.query("select string_agg(text, ' ' order by id) from effect group by unit order by 1"))
                .containsExactly("0/0 0/2", "1/0 1/1");
        database.number("select trunkline.redrive('g', 'one')");
        await(8);
    }

    /** The enemy: nothing fails before COMMIT, and the first of the batch is blamed for it. */
    @Test
    void a_message_that_fails_when_it_is_committed_is_the_one_that_is_given_up() {
        database.execute("create table known (text text primary key)");
        publishKeys(1, 8);
        database.execute("insert into known select 'k0:' || n from generate_series(0, 7) n where n <> 5");
        database.execute(
                "alter table effect add foreign key (text) references known (text) deferrable initially deferred");
        start(Batching.ofPartition(100), 2, 2_000);
        await(7);
        await(() -> database.number("select count(*) from trunkline.dead_letter") == 1);
        assertThat(database.query("select text from trunkline.dead_letters")).containsExactly("k0:5");
    }

    @Test
    void a_unit_of_work_over_the_limit_stops_its_partition_and_is_not_split() throws SQLException {
        publishUnits(3, 60, 3);
        ConsumerGroup<String> group = start(Batching.ofUnitsOfWork(5).withLimit(10));
        await(() -> database.number("select count(*) from effect") >= 3);
        group.close();
        assertThat(database.number("select count(*) from effect where text like '1/%'"))
                .isZero();
        start(Batching.ofUnitsOfWork(5).withLimit(100));
        await(66);
    }

    @Test
    void only_transactional_consumers_can_have_several_messages_in_a_transaction() {
        ConsumerGroup<String> group =
                trunkline.createConsumerGroup("g", "t", String.class).addConsumer("a", delivery -> {});
        assertThatThrownBy(() -> group.start(SubscriptionOptions.fromBeginning().withBatching(Batching.ofKey(10))))
                .isInstanceOf(ConsumerGroupException.class)
                .hasMessageContaining("transactional");
        assertThatThrownBy(() -> Batching.ofKey(0)).hasMessageContaining("0 messages");
        assertThatThrownBy(() -> Batching.ofUnitsOfWork(100).withLimit(10)).hasMessageContaining("at most 10");
    }

    private ConsumerGroup<String> start(Batching batching) {
        return start(batching, 6);
    }

    private ConsumerGroup<String> start(Batching batching, int attempts) {
        return start(batching, attempts, 2_000);
    }

    private ConsumerGroup<String> start(Batching batching, int attempts, int window) {
        return start("t", batching, attempts, window);
    }

    private ConsumerGroup<String> start(String topic, Batching batching, int attempts, int window) {
        return trunkline
                .createConsumerGroup("g", topic, String.class)
                .addTransactionalConsumer("a", this::insert)
                .start(SubscriptionOptions.fromBeginning()
                        .withBatching(batching)
                        .withWindow(window)
                        .withRetry(new RetryPolicy(attempts, Duration.ofMillis(50), Duration.ofMillis(200))));
    }

    private void insert(Delivery<String> delivery, Connection connection) throws SQLException {
        try (PreparedStatement insert =
                connection.prepareStatement("insert into effect (key, text, unit, partition) values (?, ?, ?, ?)")) {
            insert.setString(1, delivery.key());
            insert.setString(2, delivery.payload());
            insert.setLong(3, delivery.message().unit());
            insert.setInt(4, delivery.message().partition());
            insert.executeUpdate();
        }
        if (poison.contains(delivery.payload())) {
            throw new IllegalStateException("poison");
        }
    }

    private void publishKeys(int keys, int perKey) {
        for (int i = 0; i < perKey; i++) {
            int n = i;
            trunkline
                    .publisher()
                    .publishAll(IntStream.range(0, keys)
                            .mapToObj(k -> Message.of("t", "k" + k + ":" + n).withKey("k" + k))
                            .toList());
        }
    }

    private void publishUnits(int... sizes) throws SQLException {
        publishUnits("t", sizes);
    }

    private void publishUnits(String topic, int... sizes) throws SQLException {
        try (Connection connection = database.connect()) {
            connection.setAutoCommit(false);
            for (int unit = 0; unit < sizes.length; unit++) {
                for (int i = 0; i < sizes[unit]; i++) {
                    trunkline
                            .publisher()
                            .publish(
                                    connection,
                                    Message.of(topic, unit + "/" + i).withKey("k" + i % 5));
                }
                connection.commit();
            }
        }
    }

    private void assertKeysInOrder() {
        List<String> keys = database.query("select distinct key from effect");
        for (String key : keys) {
            List<String> texts = database.query("select text from effect where key = ? order by id", key);
            assertThat(texts)
                    .containsExactlyElementsOf(IntStream.range(0, texts.size())
                            .mapToObj(i -> key + ":" + i)
                            .toList());
        }
    }

    private void await(int effects) {
        await(() -> database.number("select count(*) from effect") == effects);
    }

    private static void await(java.util.concurrent.Callable<Boolean> condition) {
        Awaitility.await().atMost(Duration.ofSeconds(60)).until(condition);
    }
}
