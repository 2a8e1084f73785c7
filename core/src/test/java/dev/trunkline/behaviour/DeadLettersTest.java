package dev.trunkline.behaviour;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.trunkline.Batch;
import dev.trunkline.ConsumerGroup;
import dev.trunkline.Message;
import dev.trunkline.PullConsumer;
import dev.trunkline.PullOptions;
import dev.trunkline.RetryPolicy;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.testing.TestDatabase;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** P14 and P5 beyond the first failure: a poison message delays only its key, and whatever was given up can follow in order. */
@Timeout(300)
class DeadLettersTest {

    private static final RetryPolicy QUICK = new RetryPolicy(3, Duration.ofMillis(10), Duration.ofMillis(20));

    private final TestDatabase database = TestDatabase.fresh();
    private final List<String> seen = new CopyOnWriteArrayList<>();
    /** What the handler fails for. */
    private final Set<String> poison = ConcurrentHashMap.newKeySet();

    private Trunkline trunkline;

    @BeforeEach
    void open() {
        trunkline = database.options().lease(Duration.ofSeconds(3)).open();
        trunkline.topics().create(TopicConfiguration.pubSub("t").withPartitions(4));
    }

    @AfterEach
    void close() {
        trunkline.close();
    }

    @Test
    void a_dead_letter_parks_the_tail_of_its_key_and_nothing_else() {
        poison.add("k0");
        ConsumerGroup<String> group = start(SubscriptionOptions.fromBeginning().withRetry(QUICK));
        publish("k", 0, 5);
        publish("other", 0, 5);
        await(() -> count("parked") == 4 && seen.size() == 5);
        assertThat(seen).allMatch(text -> text.startsWith("other"));
        await(() -> lag() == 0);
        assertThat(database.query("select text || ' ' || attempts || ' ' || stops_key || ' ' || cardinality(history)"
                        + " from trunkline.dead_letters"))
                .containsExactly("k0 3 true 3");

        poison.clear();
        assertThat(database.number("select trunkline.redrive('g', 't')")).isEqualTo(1);
        await(() -> seen.size() == 10);
        publish("k", 5, 7);
        await(() -> seen.size() == 12);
        assertThat(ofKey("k")).containsExactlyElementsOf(texts("k", 0, 7));
        assertThat(group.metrics().outOfOrder()).isZero();
        assertNothingIsLeft();
    }

    @Test
    void a_discarded_dead_letter_lets_its_key_go_on_without_it() {
        poison.add("k0");
        ConsumerGroup<String> group = start(SubscriptionOptions.fromBeginning().withRetry(QUICK));
        publish("k", 0, 3);
        await(() -> count("parked") == 2);
        group.close();
        assertThat(database.number("select trunkline.discard('g', 't', array(select id from trunkline.dead_letters))"))
                .isEqualTo(1);
        start(SubscriptionOptions.fromBeginning().withRetry(QUICK));
        await(() -> seen.size() == 2);
        assertThat(seen).containsExactly("k1", "k2");
        assertNothingIsLeft();
    }

    @Test
    void one_that_is_edited_keeps_what_is_not_named() {
        PullConsumer<String> pull = trunkline.pull("p", "t", String.class, PullOptions.fromBeginning());
        trunkline
                .publisher()
                .publish(Message.of("t", "bad").withHeader("h", "v").withContentType("text/x"));
        Batch<String> batch = pull.pop(1, Duration.ofMinutes(1)).orElseThrow();
        pull.reject(
                batch.token(), List.of(batch.deliveries().getFirst().message().offset()), "no");
        String edit = "select trunkline.edit_dead_letter('p', 't', d.id, ?::bytea%s) from trunkline.dead_letter d";
        String look = "select convert_from(payload, 'UTF8'), content_type, headers from trunkline.dead_letter";
        database.query(edit.formatted(""), "one");
        assertThat(database.query(look)).containsExactly("one|text/x|{h,v}");
        database.query(edit.formatted(", 'text/y'"), "two");
        assertThat(database.query(look)).containsExactly("two|text/y|{h,v}");
        database.query(edit.formatted(", a_headers => '{a,b}'"), "three");
        assertThat(database.query(look)).containsExactly("three|text/y|{a,b}");
        assertThatThrownBy(() -> database.query(edit.formatted(", a_headers => '{a}'"), "four"))
                .hasMessageContaining("headers");
        database.query(edit.formatted(", a_headers => '{}'"), "five");
        assertThat(database.query(look)).containsExactly("five|text/y|null");
    }

    @Test
    void one_that_fails_again_after_a_redrive_keeps_its_history_and_its_place() {
        poison.add("k0");
        start(SubscriptionOptions.fromBeginning().withRetry(QUICK));
        publish("k", 0, 3);
        await(() -> count("parked") == 2);
        database.number("select trunkline.redrive('g', 't')");
        await(() -> database.number("select count(*) from trunkline.dead_letters where cardinality(history) = 7") == 1);
        await(() -> count("parked") == 2);
        assertThat(seen).isEmpty();
        poison.clear();
        database.number("select trunkline.redrive('g', 't')");
        await(() -> seen.size() == 3);
        assertThat(seen).containsExactly("k0", "k1", "k2");
    }

    @Test
    void a_key_that_stays_blocked_is_parked_while_it_is_tried_again_and_then_follows_in_order() {
        poison.add("k0");
        start(SubscriptionOptions.fromBeginning()
                .withWindow(40)
                .withRetry(new RetryPolicy(1_000_000, Duration.ofMillis(50), Duration.ofMillis(50))));
        publish("k", 0, 30);
        publish("other", 0, 300);
        await(() -> seen.size() == 300 && lag() == 0 && count("parked") == 30);
        assertThat(count("dead_letter")).isZero();
        publish("k", 30, 60);
        await(() -> count("parked") == 60);
        poison.clear();
        await(() -> seen.size() == 360);
        assertThat(ofKey("k")).containsExactlyElementsOf(texts("k", 0, 60));
        assertNothingIsLeft();
    }

    @Test
    void a_new_owner_knows_which_keys_wait_before_it_handles_anything() {
        poison.add("k0");
        ConsumerGroup<String> group = start(SubscriptionOptions.fromBeginning().withRetry(QUICK));
        publish("k", 0, 3);
        await(() -> count("parked") == 2);
        group.close();
        publish("k", 3, 6);
        poison.clear();
        group = start(SubscriptionOptions.fromBeginning().withRetry(QUICK));
        await(() -> count("parked") == 5);
        assertThat(seen).isEmpty();
        group.close();
        start(SubscriptionOptions.fromBeginning().withRetry(QUICK));
        database.number("select trunkline.redrive('g', 't', null)");
        await(() -> seen.size() == 6);
        assertThat(seen).containsExactlyElementsOf(texts("k", 0, 6));
        assertNothingIsLeft();
    }

    @Test
    void what_was_skipped_is_redriven_on_its_own_with_and_without_a_key() {
        poison.addAll(List.of("k0", "none"));
        start(SubscriptionOptions.fromBeginning().withRetry(QUICK.skipping()));
        publish("k", 0, 3);
        trunkline.publisher().publish(Message.of("t", "none"));
        await(() -> seen.size() == 2 && count("dead_letter") == 2);
        poison.clear();
        database.number("select trunkline.redrive('g', 't')");
        await(() -> seen.size() == 4);
        assertThat(seen).containsExactlyInAnyOrder("k0", "k1", "k2", "none");
        publish("k", 3, 4);
        await(() -> seen.size() == 5);
        assertNothingIsLeft();
    }

    @Test
    void redriving_what_is_not_there_is_refused_or_counts_none() {
        start(SubscriptionOptions.fromBeginning());
        assertThat(database.number("select trunkline.redrive('g', 't', array[17])"))
                .isZero();
        assertThatThrownBy(() -> database.number("select trunkline.redrive('nobody', 't')"))
                .hasMessageContaining("no group \"nobody\"");
    }

    @Test
    void a_handler_that_fails_for_everything_slows_the_group_down_and_gives_nothing_up() {
        AtomicBoolean ill = new AtomicBoolean(true);
        AtomicInteger calls = new AtomicInteger();
        trunkline
                .createConsumerGroup("g", "t", String.class)
                .addConsumer("a", delivery -> {
                    calls.incrementAndGet();
                    if (ill.get()) {
                        throw new IllegalStateException("the mail server is down");
                    }
                    seen.add(delivery.payload());
                })
                .start(SubscriptionOptions.fromBeginning()
                        .withRetry(new RetryPolicy(5, Duration.ofMillis(100), Duration.ofMillis(200))));
        trunkline
                .publisher()
                .publishAll(IntStream.range(0, 300)
                        .mapToObj(i -> Message.of("t", "m" + i).withKey("k" + i))
                        .toList());
        // Every message had more than its five attempts by then, were they counted against it.
        await(() -> database.number("select coalesce(max(attempts), 0) from trunkline.attempt") > 6);
        assertThat(count("dead_letter")).isZero();
        assertThat(count("parked")).isZero();
        ill.set(false);
        await(() -> seen.size() == 300);
        assertThat(seen).doesNotHaveDuplicates();
        assertThat(count("dead_letter")).isZero();
    }

    /** The enemy: what was looked up of a key is out of date when it is used, since a worker has stopped the key meanwhile. */
    @Test
    void a_key_that_is_stopped_while_lines_are_looked_up_stays_so() throws Exception {
        CountDownLatch last = new CountDownLatch(1);
        poison.addAll(List.of("k0", "j0"));
        trunkline
                .createConsumerGroup("g", "t", String.class)
                .addConsumer("a", delivery -> {
                    if (delivery.payload().equals("k0") && delivery.attempt() == 3) {
                        last.await();
                    }
                    check(delivery.payload());
                    seen.add(delivery.payload());
                })
                .start(SubscriptionOptions.fromBeginning().withRetry(QUICK).withWindow(8));
        publish("j", 0, 1);
        await(() -> count("dead_letter") == 1);
        publish("k", 0, 6);
        await(() -> count("parked") == 6);
        database.execute("alter function trunkline.lines rename to lines_now");
        database.execute("create function trunkline.lines(a_subscription int, a_partitions int[])"
                + " returns table (strand int, key text, stopped boolean, parked bigint) language plpgsql volatile security definer as $$ begin"
                + " return query select * from trunkline.lines_now(a_subscription, a_partitions);"
                + " perform pg_advisory_xact_lock(1); end $$");
        try (Connection holder = database.connect()) {
            holder.setAutoCommit(false);
            TestDatabase.query(holder, "select pg_advisory_xact_lock(1)");
            database.number("select trunkline.discard('g', 't')");
            await(() ->
                    database.number("select count(*) from pg_locks where locktype = 'advisory' and not granted") > 0);
            last.countDown();
            await(() -> database.number("select count(*) from trunkline.dead_letters where key = 'k'") == 1);
            // Whether the worker is back can not be seen; another message that it handles shows it.
            publish("other", 0, 1);
            holder.rollback();
        }
        await(() -> seen.contains("other0") && count("parked") == 5);
        publish("other", 1, 3);
        await(() -> seen.contains("other2"));
        assertThat(ofKey("k")).isEmpty();
        poison.clear();
        database.number("select trunkline.redrive('g', 't')");
        await(() -> seen.containsAll(texts("k", 0, 6)));
        assertThat(ofKey("k")).containsExactlyElementsOf(texts("k", 0, 6));
        assertNothingIsLeft();
    }

    /** The enemy: the last thing that an ill handler has failed for is all that it is given, for ever. */
    @Test
    void a_group_that_is_ill_finds_out_that_its_handler_can_do_other_messages() {
        for (int i = 0; i < 10; i++) {
            poison.add("p" + i + "_0");
        }
        ConsumerGroup<String> group = start(SubscriptionOptions.fromBeginning().withRetry(QUICK));
        for (int i = 0; i < 10; i++) {
            publish("p" + i + "_", 0, 1);
        }
        await(() -> group.metrics().failing());
        publish("good", 0, 30);
        await(() -> ofKey("good").size() == 30);
        await(() -> count("dead_letter") == 10);
        assertThat(group.metrics().failing()).isFalse();
    }

    /** The enemy: the process dies before it records what its key had done, and the next one gives that out behind what is parked. */
    @ParameterizedTest
    @ValueSource(ints = {1, 1_000})
    void what_a_key_has_done_is_recorded_before_the_rest_of_it_is_set_aside(int attempts) {
        trunkline.topics().create(TopicConfiguration.pubSub("one").withPartitions(1));
        database.execute("create table recorded (done int8multirange)");
        database.execute("create function note() returns trigger language plpgsql security definer as $$ begin"
                + " insert into public.recorded select d.done from trunkline.done(1, array[0]) d; return null; end $$");
        for (String table : List.of("parked", "dead_letter")) {
            database.execute("create trigger note after insert on trunkline." + table
                    + " for each statement execute function public.note()");
        }
        poison.add("k5");
        trunkline
                .createConsumerGroup("g", "one", String.class)
                .addConsumer("a", delivery -> check(delivery.payload()))
                .start(SubscriptionOptions.fromBeginning()
                        .withWindow(40)
                        .withRetry(new RetryPolicy(attempts, Duration.ofMillis(5), Duration.ofMillis(5))));
        trunkline
                .publisher()
                .publishAll(texts("k", 0, 30).stream()
                        .map(text -> Message.of("one", text).withKey("k"))
                        .toList());
        await(() -> count("parked") > 0);
        assertThat(database.query("select distinct done @> int8range(0, 5) from recorded"))
                .containsExactly("t");
    }

    /** The enemy: a worker that dies of it keeps its key, and its place among the handlers. */
    @Test
    void a_failure_that_can_not_even_be_told_is_one_of_its_message_only() {
        AtomicInteger tries = new AtomicInteger();
        trunkline
                .createConsumerGroup("g", "t", String.class)
                .addConsumer("a", delivery -> {
                    if (delivery.payload().equals("k0") && tries.incrementAndGet() == 1) {
                        throw new IllegalStateException() {
                            private static final long serialVersionUID = 1L;

                            @Override
                            public String getMessage() {
                                throw new UnsupportedOperationException("nothing to say");
                            }
                        };
                    }
                    seen.add(delivery.payload());
                })
                .start(SubscriptionOptions.fromBeginning().withConcurrency(1));
        publish("k", 0, 3);
        await(() -> seen.size() == 3);
        assertThat(seen).containsExactly("k0", "k1", "k2");
    }

    @Test
    void a_handler_that_interrupts_its_own_thread_harms_nobody_else() {
        trunkline
                .createConsumerGroup("g", "t", String.class)
                .addConsumer("a", delivery -> {
                    assertThat(Thread.currentThread().isInterrupted()).isFalse();
                    seen.add(delivery.payload());
                    Thread.currentThread().interrupt();
                })
                .start(SubscriptionOptions.fromBeginning().withConcurrency(1));
        publish("k", 0, 20);
        await(() -> seen.size() == 20);
        assertThat(seen).containsExactlyElementsOf(texts("k", 0, 20));
        assertThat(count("attempt")).isZero();
    }

    @Test
    void transactional_effects_happen_once_through_parking_and_redrive() {
        database.execute("create table effect (id bigint generated always as identity, text text not null)");
        poison.add("k2");
        trunkline
                .createConsumerGroup("g", "t", String.class)
                .addTransactionalConsumer("a", (delivery, connection) -> {
                    try (var insert = connection.prepareStatement("insert into effect (text) values (?)")) {
                        insert.setString(1, delivery.payload());
                        insert.executeUpdate();
                    }
                    check(delivery.payload());
                })
                .start(SubscriptionOptions.fromBeginning().withRetry(QUICK));
        publish("k", 0, 6);
        await(() -> count("parked") == 3);
        poison.clear();
        database.number("select trunkline.redrive('g', 't')");
        await(() -> database.number("select count(*) from effect") == 6);
        assertThat(database.query("select text from effect order by id")).containsExactlyElementsOf(texts("k", 0, 6));
        assertNothingIsLeft();
    }

    private ConsumerGroup<String> start(SubscriptionOptions options) {
        return trunkline
                .createConsumerGroup("g", "t", String.class)
                .addConsumer("a", delivery -> {
                    check(delivery.payload());
                    seen.add(delivery.payload());
                })
                .start(options);
    }

    private void check(String text) {
        if (poison.contains(text)) {
            throw new IllegalStateException(text + " is poison");
        }
    }

    private void publish(String key, int from, int to) {
        trunkline
                .publisher()
                .publishAll(texts(key, from, to).stream()
                        .map(text -> Message.of("t", text).withKey(key).withHeader("say \"hi\"", "a,\\b{}"))
                        .toList());
    }

    private static List<String> texts(String key, int from, int to) {
        return IntStream.range(from, to).mapToObj(i -> key + i).toList();
    }

    private List<String> ofKey(String key) {
        return new ArrayList<>(seen)
                .stream().filter(text -> text.matches(key + "\\d+")).toList();
    }

    private long count(String table) {
        return database.number("select count(*) from trunkline." + table);
    }

    private long lag() {
        return database.number("select coalesce(sum(lag), 0)::bigint from trunkline.lag('g', 't')");
    }

    private void assertNothingIsLeft() {
        await(() -> count("blocked") == 0);
        for (String table : List.of("parked", "dead_letter", "attempt")) {
            await(() -> count(table) == 0);
        }
    }

    private static void await(java.util.concurrent.Callable<Boolean> condition) {
        Awaitility.await().atMost(Duration.ofSeconds(60)).until(condition);
    }
}
