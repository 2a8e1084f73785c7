package dev.trunkline.behaviour;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.trunkline.BackfillConfiguration;
import dev.trunkline.ConsumerGroup;
import dev.trunkline.ConsumerGroupException;
import dev.trunkline.GroupStatus;
import dev.trunkline.Message;
import dev.trunkline.PullConsumer;
import dev.trunkline.PullOptions;
import dev.trunkline.Start;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.TopicPattern;
import dev.trunkline.Trunkline;
import dev.trunkline.WildcardGroup;
import dev.trunkline.testing.Popped;
import dev.trunkline.testing.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Groups of topics by what they are called: topics that come later are theirs from their first message on, and once. */
@Timeout(300)
class WildcardsTest {

    private static final TopicPattern SHOP = TopicPattern.namespace("shop");

    private final TestDatabase database = TestDatabase.fresh();
    private final Trunkline trunkline = database.open();
    private final List<String> seen = new CopyOnWriteArrayList<>();

    @AfterEach
    void close() {
        trunkline.close();
    }

    private void create(String topic, String namespace, String task) {
        trunkline
                .topics()
                .create(TopicConfiguration.pubSub(topic)
                        .withPartitions(2)
                        .withNamespace(namespace)
                        .withTask(task));
    }

    private void publish(String topic, String payload) {
        trunkline.publisher().publish(Message.of(topic, payload).withKey("k"));
    }

    private WildcardGroup<String> start(String group, TopicPattern topics, Start start) {
        return trunkline
                .createConsumerGroup(group, topics, String.class, each -> each.addConsumer("c", this::see))
                .start(SubscriptionOptions.from(start));
    }

    private void see(dev.trunkline.Delivery<String> delivery) {
        seen.add(delivery.message().topic() + " " + delivery.payload());
    }

    private void await(String... all) {
        Awaitility.await().until(() -> seen.size() >= all.length);
        assertThat(seen).containsExactlyInAnyOrder(all);
    }

    private List<String> subscribed(String group) {
        return database.query(
                "select t.name from trunkline.subscription s join trunkline.topic t on t.id = s.topic"
                        + " where s.group_name = ? and s.status <> 'CANCELLED' order by 1",
                group);
    }

    // ---- which topics ----

    @Test
    void topics_that_exist_and_topics_that_come_later_are_consumed() {
        create("orders", "shop", "sell");
        create("other", "else", "sell");
        publish("orders", "before");
        try (WildcardGroup<String> group = start("audit", SHOP, Start.now())) {
            assertThat(group.topics()).containsExactly("orders");
            publish("orders", "1");
            publish("other", "2");
            create("returns", "shop", "buy back");
            publish("returns", "3");
            await("orders 1", "returns 3");
            // Its first message is handled before the group says so.
            Awaitility.await().until(() -> group.topics().equals(Set.of("orders", "returns")));
            Awaitility.await().until(() -> group.of("returns").metrics().handled() == 1);
            assertThatThrownBy(() -> group.of("other"))
                    .isInstanceOf(ConsumerGroupException.class)
                    .hasMessageContaining("does not consume topic \"other\" in this process, but orders, returns");
        }
    }

    @Test
    void a_topic_that_is_found_late_is_read_from_when_the_group_began() {
        PullConsumer<String> group = trunkline.pull("cg1", SHOP, String.class, PullOptions.fromNow());
        create("q1", "shop", "sell");
        publish("q1", "M1");
        assertThat(Popped.all(group)).containsExactly("M1");
        create("q2", "shop", "sell");
        publish("q2", "M2");
        publish("q2", "M3");
        assertThat(Popped.all(group)).containsExactly("M2", "M3");
        assertThat(Popped.all(trunkline.pull("cg2", SHOP, String.class, PullOptions.fromNow())))
                .isEmpty();
        assertThat(Popped.all(trunkline.pull("cg3", SHOP, String.class, PullOptions.fromBeginning())))
                .containsExactlyInAnyOrder("M1", "M2", "M3");
    }

    @Test
    void a_topic_that_comes_to_fit_is_read_from_when_the_group_began_too() {
        create("t", "else", "sell");
        publish("t", "before");
        try (WildcardGroup<String> group = start("audit", SHOP, Start.now())) {
            publish("t", "since");
            assertThat(group.topics()).isEmpty();
            trunkline.topics().alter(trunkline.topics().find("t").orElseThrow().withNamespace("shop"));
            await("t since");
        }
    }

    @Test
    void a_topic_and_its_subscriptions_are_one_transaction() throws SQLException {
        start("audit", SHOP, Start.now()).close();
        try (Connection connection = database.connect()) {
            connection.setAutoCommit(false);
            TestDatabase.query(connection, "select trunkline.create_topic('t', 'PUB_SUB', namespace => 'shop')");
            assertThat(TestDatabase.query(connection, "select group_name from trunkline.subscription"))
                    .containsExactly("audit");
            connection.rollback();
        }
        assertThat(subscribed("audit")).isEmpty();
    }

    @Test
    void a_topic_and_a_wildcard_that_are_made_at_the_same_time_do_not_miss_each_other() throws SQLException {
        String topic = "select trunkline.create_topic('%s', 'PUB_SUB', namespace => 'shop')";
        String wildcard = "select trunkline.subscribe_wildcard('%s', 'shop')";
        together(topic.formatted("a"), wildcard.formatted("one"));
        together(wildcard.formatted("two"), topic.formatted("b"));
        assertThat(subscribed("one")).containsExactly("a", "b");
        assertThat(subscribed("two")).containsExactly("a", "b");
    }

    /** The second begins before the first commits, and can not see it. */
    private void together(String first, String second) throws SQLException {
        try (Connection connection = database.connect()) {
            connection.setAutoCommit(false);
            TestDatabase.query(connection, first);
            CompletableFuture<List<String>> other = CompletableFuture.supplyAsync(() -> database.query(second));
            Awaitility.await()
                    .until(() -> database.number("select count(*) from pg_stat_activity where wait_event_type = 'Lock'"
                                    + " and datname = current_database()")
                            > 0);
            connection.commit();
            other.join();
        }
    }

    @Test
    void what_was_missed_all_the_same_is_found_by_upkeep() {
        create("t", "shop", "sell");
        start("audit", SHOP, Start.now()).close();
        publish("t", "1");
        database.query("delete from trunkline.holder");
        database.query("delete from trunkline.subscription");
        trunkline.upkeepNow();
        assertThat(subscribed("audit")).containsExactly("t");
        try (WildcardGroup<String> again = start("audit", SHOP, Start.now())) {
            await("t 1");
            assertThat(again.topics()).containsExactly("t");
        }
    }

    @Test
    void queues_are_nobody_elses() {
        trunkline.topics().create(TopicConfiguration.queue("q").withNamespace("shop"));
        try (WildcardGroup<String> group = start("audit", SHOP, Start.now())) {
            assertThat(group.topics()).isEmpty();
        }
    }

    @Test
    void a_topic_that_takes_messages_only_while_somebody_listens_is_open_to_those_of_a_wildcard() {
        start("audit", SHOP, Start.now()).close();
        database.query("select trunkline.create_topic('t', 'PUB_SUB', namespace => 'shop', unheard => 'REFUSE')");
        publish("t", "1");
        assertThat(database.query("select pending from trunkline.groups")).containsExactly("1");
    }

    @Test
    void of_more_history_than_the_bound_the_last_part_of_each_topic_is_handled() {
        create("orders", "shop", "sell");
        for (int i = 0; i < 10; i++) {
            publish("orders", String.valueOf(i));
        }
        try (WildcardGroup<String> group =
                trunkline.createConsumerGroup("audit", SHOP, String.class, each -> each.addConsumer("c", this::see))) {
            group.start(SubscriptionOptions.fromBeginning(
                    BackfillConfiguration.standard().withMaxMessages(2)));
            await("orders 8", "orders 9");
        }
        assertThat(trunkline.admin().gaps("audit", "orders")).singleElement().matches(gap -> gap.to() == 8);
    }

    @Test
    void who_comes_back_is_given_what_it_says_of_its_death_and_its_history() {
        start("audit", SHOP, Start.now()).close();
        create("orders", "shop", "sell");
        for (int i = 0; i < 10; i++) {
            publish("orders", Integer.toString(i));
        }
        database.query("select trunkline.watch_groups(clock_timestamp())");
        database.query("select trunkline.watch_groups(clock_timestamp() + interval '1 hour')");
        assertThat(trunkline.admin().find("audit", "orders").orElseThrow().status())
                .isEqualTo(GroupStatus.DEAD);
        try (WildcardGroup<String> group = trunkline
                .createConsumerGroup("audit", SHOP, String.class, each -> each.addConsumer("c", this::see))
                .start(SubscriptionOptions.fromNow()
                        .withDeadAfter(Duration.ofMinutes(7))
                        .withBackfill(BackfillConfiguration.aggressive().withMaxMessages(2)))) {
            Awaitility.await().until(() -> group.of("orders").metrics().handled() == 2);
        }
        assertThat(seen).containsExactly("orders 8", "orders 9");
        assertThat(database.query("select dead_after from trunkline.subscription"))
                .containsExactly("00:07:00");
    }

    // ---- several patterns ----

    @Test
    void the_pattern_that_says_most_decides_where_a_group_begins() {
        create("orders.eu", "shop", "sell");
        create("orders.us", "shop", "sell");
        create("parcels", "shop", "sell");
        create("bills", "office", "sell");
        for (String topic : List.of("orders.eu", "orders.us", "parcels", "bills")) {
            publish(topic, "old");
        }
        trunkline
                .createConsumerGroup("g", "orders.us", String.class)
                .addConsumer("c", this::see)
                .start(SubscriptionOptions.fromNow())
                .close();
        // They are made one after the other: what each of them says of topics that are not subscribed to yet is what
        // counts.
        database.query(
                "insert into trunkline.wildcard (group_name, namespace, task, name, name_like, mode, start_mode) values"
                        + " ('g', null, 'sell', null, null, 'HANDLER', 'NOW'), ('g', 'shop', null, null, null, 'HANDLER', 'NOW'),"
                        + " ('g', null, null, 'orders.*', 'orders.%', 'HANDLER', 'BEGINNING'),"
                        + " ('g', null, 'sell', 'b*', 'b%', 'HANDLER', 'BEGINNING')");
        trunkline.upkeepNow();
        assertThat(database.query("select topic, start_mode, pending from trunkline.groups order by 1"))
                .containsExactly("bills|BEGINNING|1", "orders.eu|BEGINNING|1", "orders.us|NOW|0", "parcels|NOW|0");
    }

    @Test
    void a_topic_that_fits_two_patterns_of_a_group_is_delivered_once() {
        create("orders", "shop", "sell");
        try (WildcardGroup<String> one = start("audit", SHOP, Start.now());
                WildcardGroup<String> two = start("audit", TopicPattern.name("o*"), Start.now())) {
            create("others", "shop", "sell");
            create("only", "else", "sell");
            for (String topic : List.of("orders", "others", "only")) {
                publish(topic, "1");
            }
            await("orders 1", "others 1", "only 1");
            assertThat(one.topics()).doesNotContainAnyElementsOf(two.topics());
            assertThat(database.number("select count(*) from trunkline.subscription"))
                    .isEqualTo(3);
        }
        assertThat(seen).hasSize(3);
    }

    @Test
    void a_group_is_started_once_in_a_process() {
        create("orders", "shop", "sell");
        try (WildcardGroup<String> group = start("audit", SHOP, Start.now());
                ConsumerGroup<String> same = trunkline
                        .createConsumerGroup("audit", "orders", String.class)
                        .addConsumer("c", this::see)) {
            assertThat(group.topics()).containsExactly("orders");
            assertThatThrownBy(() -> same.start(SubscriptionOptions.fromNow()))
                    .isInstanceOf(ConsumerGroupException.class)
                    .hasMessageContaining("started in this process already");
        }
    }

    // ---- the end ----

    @Test
    void what_was_cancelled_by_itself_does_not_come_back() {
        create("a", "shop", "sell");
        create("b", "shop", "sell");
        try (WildcardGroup<String> group = start("audit", SHOP, Start.now())) {
            trunkline.admin().cancel("audit", "a");
            Awaitility.await().until(() -> group.topics().equals(Set.of("b")));
            trunkline.upkeepNow();
            // Long after it was cancelled it is still known that it was; what is of no use any more is not.
            database.query("select trunkline.sweep_groups(clock_timestamp() + interval '90 days')");
            trunkline.upkeepNow();
            assertThat(subscribed("audit")).containsExactly("b");
        }
        try (WildcardGroup<String> again = start("audit", SHOP, Start.now())) {
            assertThat(again.topics()).containsExactly("b");
        }
    }

    @Test
    void a_dropped_topic_is_no_longer_consumed_and_one_of_its_name_is_a_new_one() {
        create("a", "shop", "sell");
        try (WildcardGroup<String> group = start("audit", SHOP, Start.now())) {
            trunkline.topics().drop("a");
            Awaitility.await().until(() -> group.topics().isEmpty());
            create("a", "shop", "sell");
            publish("a", "anew");
            await("a anew");
        }
    }

    @Test
    void a_topic_that_has_got_the_name_of_a_dropped_one_before_anybody_looked_is_a_new_one_too() {
        create("a", "shop", "sell");
        try (WildcardGroup<String> group = start("audit", SHOP, Start.now())) {
            assertThat(group.topics()).containsExactly("a");
            database.execute("begin; select trunkline.drop_topic('a');"
                    + " select trunkline.create_topic('a', 'PUB_SUB', namespace => 'shop'); commit");
            publish("a", "anew");
            await("a anew");
        }
    }

    @Test
    void a_cancelled_wildcard_ends_what_no_other_one_of_the_group_has() {
        create("orders", "shop", "sell");
        create("bills", "shop", "sell");
        WildcardGroup<String> one = start("audit", SHOP, Start.now());
        try (WildcardGroup<String> two = start("audit", TopicPattern.name("orders"), Start.now())) {
            one.cancel();
            create("later", "shop", "sell");
            assertThat(subscribed("audit")).containsExactly("orders");
            Awaitility.await().until(() -> two.topics().equals(Set.of("orders")));
        }
        assertThat(trunkline.admin().wildcards())
                .singleElement()
                .matches(left -> left.pattern().equals(TopicPattern.name("orders")) && left.topics() == 1);
        trunkline.admin().cancelWildcard("audit", TopicPattern.name("orders"));
        assertThat(subscribed("audit")).isEmpty();
        assertThatThrownBy(() -> trunkline.admin().cancelWildcard("audit", TopicPattern.name("orders")))
                .isInstanceOf(ConsumerGroupException.class)
                .hasMessageContaining("has no such wildcard");
        // Who subscribes anew after that does not find the old end.
        try (WildcardGroup<String> anew = start("audit", SHOP, Start.now())) {
            assertThat(anew.topics()).containsExactly("bills", "later", "orders");
        }
    }

    // ---- patterns ----

    @ParameterizedTest
    @CsvSource({
        "orders.*, orders.eu, true",
        "orders.*, orders, false",
        "orders.*, ordersXeu, false",
        "*, anything, true",
        "o?ders, orders, true",
        "o?ders, oorders, false",
        "100%, 100%, true",
        "100%, 1000, false",
        "a_b, a_b, true",
        "a_b, axb, false",
        "a\\*b, a*b, true",
        "a\\*b, axb, false",
        "a\\\\b, a\\b, true",
        "\\%x, %x, true",
        "ÄÖ?, ÄÖ☃, true",
        "Orders, orders, false"
    })
    void a_pattern_fits_what_it_says(String pattern, String name, boolean fits) {
        create(name, "shop", "sell");
        try (WildcardGroup<String> group = start("g", TopicPattern.name(pattern), Start.now())) {
            assertThat(group.topics()).isEqualTo(fits ? Set.of(name) : Set.of());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a\\", "a\\\\\\"})
    void what_is_no_pattern_is_refused(String pattern) {
        assertThatThrownBy(() -> TopicPattern.name(pattern))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("is no pattern of topic names");
        assertThatThrownBy(() -> database.query("select trunkline.subscribe_wildcard('g', a_name => ?)", pattern))
                .hasMessageContaining("pattern of topic names");
    }

    /** Else it would be found out by those who create topics, and they could not. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "a_mode => 'PULL', a_attempts => 0",
                "a_mode => 'PULL', a_attempts => null",
                "a_dead_after => '-1 second'",
                "a_mode => 'POLL'",
                "a_mode => null"
            })
    void what_no_group_can_have_is_refused_before_there_is_a_topic(String setting) {
        assertThatThrownBy(() -> database.query("select trunkline.subscribe_wildcard('g', 'shop', " + setting + ")"))
                .cause()
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("TL008"));
        create("t", "shop", "sell");
    }

    @Test
    void what_can_not_be_for_several_topics_is_refused() {
        assertThatThrownBy(() -> new TopicPattern(null, null, null)).hasMessageContaining("which topics?");
        assertThatThrownBy(() -> TopicPattern.namespace("")).hasMessageContaining("is no namespace");
        assertThatThrownBy(() -> start("g", SHOP, Start.offset(7)))
                .isInstanceOf(ConsumerGroupException.class)
                .hasMessageContaining("to begin at a offset is for one topic only");
        assertThatThrownBy(() -> start("", SHOP, Start.now()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("has a name");
        assertThatThrownBy(() -> trunkline
                        .createConsumerGroup("g", SHOP, String.class, group -> {})
                        .start(SubscriptionOptions.fromNow().withPartitions(Set.of(1))))
                .hasMessageContaining("for one topic only");
        create("orders", "shop", "sell");
        assertThatThrownBy(() -> trunkline
                        .createConsumerGroup("g", SHOP, String.class, group -> {})
                        .start(SubscriptionOptions.fromNow()))
                .isInstanceOf(ConsumerGroupException.class)
                .hasMessageContaining("has no consumer");
        assertThatThrownBy(() -> trunkline.pull("g", SHOP, String.class, PullOptions.fromNow()))
                .isInstanceOf(ConsumerGroupException.class)
                .hasMessageContaining("has handlers");
        assertThatThrownBy(() -> database.query(
                        "select trunkline.subscribe_wildcard('p', 'shop', a_mode => 'PULL', a_bound => 5)"))
                .hasMessageContaining("is for groups with handlers");
        assertThatThrownBy(() -> database.query("select trunkline.subscribe_wildcard('g')"))
                .hasMessageContaining("which topics?");
    }
}
