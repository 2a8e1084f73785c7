package dev.trunkline.behaviour;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.Batching;
import dev.trunkline.ConsumerGroup;
import dev.trunkline.Message;
import dev.trunkline.Receipt;
import dev.trunkline.RetryPolicy;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.testing.TestDatabase;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** P14 of handlers that do not return, whatever is done to them: only their keys wait, and nothing is lost, doubled or out of order when they do. */
@Timeout(300)
class HangingHandlersTest {

    private static final RetryPolicy ONCE = new RetryPolicy(1, Duration.ZERO, Duration.ZERO);
    private static final Duration TIMEOUT = Duration.ofSeconds(1);
    /** Where others than those that hang must not be given up, though the machine may stand still while they run. */
    private static final Duration LONGER = Duration.ofSeconds(3);

    private final TestDatabase database = TestDatabase.fresh();
    private final List<String> seen = new CopyOnWriteArrayList<>();
    /** What the handler hangs for, until it is released. */
    private final Set<String> trap = ConcurrentHashMap.newKeySet();

    private final CountDownLatch release = new CountDownLatch(1);
    private Trunkline trunkline;

    @BeforeEach
    void open() {
        trunkline = database.options().lease(Duration.ofSeconds(3)).open();
        trunkline.topics().create(TopicConfiguration.pubSub("t").withPartitions(1));
    }

    @AfterEach
    void close() {
        release.countDown();
        trunkline.close();
    }

    @Test
    void a_handler_that_never_returns_is_given_up_and_its_key_waits_until_it_does() {
        Set<String> running = ConcurrentHashMap.newKeySet();
        trap.add("k0");
        trunkline
                .createConsumerGroup("g", "t", String.class)
                .addConsumer("a", delivery -> {
                    assertThat(running.add(delivery.key())).isTrue();
                    hang(delivery.payload());
                    seen.add(delivery.payload());
                    running.remove(delivery.key());
                })
                .start(options(ONCE.skipping()).withConcurrency(1));
        publish("k", 0, 3);
        publish("other", 0, 3);
        await(() -> count("dead_letter") == 1);
        await(() -> seen.size() == 3);
        assertThat(seen).allMatch(text -> text.startsWith("other"));
        assertThat(database.query("select error from trunkline.dead_letters"))
                .allMatch(error -> error.contains("did not return"));
        release.countDown();
        await(() -> seen.containsAll(List.of("k1", "k2")));
        assertThat(ofKey("k")).containsExactly("k0", "k1", "k2");
    }

    /** The enemy: when the handler returns, its key is stopped for a dead letter that is gone. */
    @Test
    void a_dead_letter_that_is_discarded_while_its_handler_hangs_does_not_stop_its_key() {
        startFailingOnce("k0");
        trap.add("k0");
        publish("k", 0, 3);
        await(() -> count("dead_letter") == 1 && count("parked") == 2);
        database.number("select trunkline.redrive('g', 't')");
        await(() -> database.number("select count(*) from trunkline.dead_letters where error like '%did not return%'")
                == 1);
        database.number("select trunkline.discard('g', 't')");
        await(() -> count("dead_letter") == 0);
        release.countDown();
        await(() -> seen.containsAll(List.of("k1", "k2")));
        await(() -> count("blocked") + count("parked") + count("attempt") == 0);
    }

    /** The enemy: what a handler throws when it returns at last is taken for a failure of what was given up. */
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void a_batch_that_was_given_up_is_over_whatever_its_handler_says_later(int messages) {
        AtomicInteger tries = new AtomicInteger();
        trap.add("k0");
        ConsumerGroup<String> group = trunkline
                .createConsumerGroup("g", "t", String.class)
                .addTransactionalConsumer("a", (delivery, connection) -> {
                    if (delivery.payload().equals("k0")) {
                        tries.incrementAndGet();
                        hang(delivery.payload());
                        throw new IllegalStateException("too late");
                    }
                    seen.add(delivery.payload());
                })
                .start(options(new RetryPolicy(5, Duration.ZERO, Duration.ZERO))
                        .withHandlerTimeout(LONGER)
                        .withBatching(Batching.ofPartition(10)));
        publish("k", 0, messages);
        await(() -> count("dead_letter") == 1);
        release.countDown();
        publish("other", 0, 5);
        await(() -> Set.copyOf(seen).size() == messages + 4);
        group.close();
        assertThat(tries).hasValue(1);
        assertThat(count("dead_letter")).isOne();
        assertThat(count("attempt")).isZero();
    }

    /** The enemy: what comes of the key while its handler hangs counts as under way, and fills the window of its partition. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void what_follows_on_the_key_of_a_handler_that_hangs_does_not_hold_up_its_partition(boolean skipping) {
        trap.add("k0");
        ConsumerGroup<String> group =
                start(options(skipping ? ONCE.skipping() : ONCE).withWindow(50));
        publish("k", 0, 150);
        publish("other", 0, 5);
        await(() -> ofKey("other").size() == 5);
        assertThat(seen).hasSize(5);
        assertThat(database.query("select text from trunkline.dead_letters")).containsExactly("k0");

        release.countDown();
        if (!skipping) {
            await(() -> ofKey("k").size() == 1);
            database.number("select trunkline.redrive('g', 't')");
        }
        publish("k", 150, 160);
        await(() -> ofKey("k").size() == (skipping ? 160 : 161));
        List<String> rest = ofKey("k").subList(skipping ? 0 : 1, ofKey("k").size());
        assertThat(rest).containsExactlyElementsOf(texts("k", 0, 160));
        assertThat(group.metrics().outOfOrder()).isZero();
        await(() -> count("blocked") + count("parked") == 0);
    }

    /** The enemy: the process dies then, and the next owner hands out again what the turn had done, behind what is parked. */
    @Test
    void what_a_turn_has_done_is_recorded_before_one_of_it_that_hangs_is_given_up() {
        database.execute("create table recorded (done int8multirange)");
        noteAtBurials("insert into public.recorded select d.done from trunkline.done(1, array[0]) d");
        trap.add("k5");
        start(options(ONCE));
        publish("k", 0, 10);
        await(() -> count("dead_letter") == 1);
        assertThat(database.query("select done @> int8range(0, 5) from recorded"))
                .containsExactly("t");
    }

    @Test
    void what_a_turn_has_done_of_what_was_parked_is_taken_out_before_one_of_it_that_hangs_is_given_up() {
        database.execute("create table left_over (\"offset\" bigint)");
        startFailingOnce("k0");
        trap.add("k5");
        publish("k", 0, 10);
        await(() -> count("dead_letter") == 1 && count("parked") == 9);
        noteAtBurials("insert into public.left_over select p.\"offset\" from trunkline.parked p");
        database.number("select trunkline.redrive('g', 't')");
        await(() -> count("dead_letter") == 1 && seen.size() == 5);
        assertThat(database.query("select \"offset\" from left_over order by 1"))
                .containsExactly("6", "7", "8", "9");
    }

    /** The enemy: a batch has one clock and one name, those of its first message. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void of_a_batch_the_message_that_hangs_is_given_up_and_the_rest_happens_once(boolean byKey) {
        database.execute("create table effect (id bigint generated always as identity, text text not null)");
        trap.add("k3");
        ConsumerGroup<String> group = trunkline
                .createConsumerGroup("g", "t", String.class)
                .addTransactionalConsumer("a", (delivery, connection) -> {
                    insertEffect(connection, delivery.payload());
                    hang(delivery.payload());
                })
                .start(options(ONCE)
                        .withHandlerTimeout(LONGER)
                        .withBatching(byKey ? Batching.ofKey(10) : Batching.ofPartition(10)));
        publish("k", 0, 8);
        await(() -> count("dead_letter") == 1);
        assertThat(database.query("select text from trunkline.dead_letters")).containsExactly("k3");
        release.countDown();
        if (!byKey) {
            await(() -> database.number("select count(*) from effect") == 7);
        }
        database.number("select trunkline.redrive('g', 't')");
        await(() -> database.number("select count(*) from effect") == 8);
        List<String> effects = database.query("select text from effect order by id");
        if (byKey) {
            assertThat(effects).containsExactlyElementsOf(texts("k", 0, 8));
        } else {
            assertThat(effects).containsExactly("k0", "k1", "k2", "k4", "k5", "k6", "k7", "k3");
        }
        assertThat(group.metrics().outOfOrder()).isZero();
        await(() -> count("dead_letter") + count("parked") + count("blocked") + count("attempt") == 0);
    }

    /** The enemy: one that was given up and has returned still counts as hanging, and others run beside it for ever. */
    @Test
    void when_it_has_returned_no_more_handlers_run_than_are_allowed() {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        trap.add("k0");
        trunkline
                .createConsumerGroup("g", "t", String.class)
                .addConsumer("a", delivery -> {
                    hang(delivery.payload());
                    if (!delivery.key().equals("k")) {
                        int now = inside.incrementAndGet();
                        most.accumulateAndGet(now, Math::max);
                        Thread.sleep(20); // another one beside it would come in
                        inside.decrementAndGet();
                    }
                    seen.add(delivery.payload());
                })
                .start(options(ONCE.skipping()).withHandlerTimeout(LONGER).withConcurrency(1));
        publish("k", 0, 5);
        await(() -> count("dead_letter") == 1);
        release.countDown();
        await(() -> seen.size() == 5);
        trunkline
                .publisher()
                .publishAll(texts("other", 0, 20).stream()
                        .map(text -> Message.of("t", text).withKey(text))
                        .toList());
        await(() -> ofKey("other").size() == 20);
        assertThat(ofKey("k")).containsExactlyElementsOf(texts("k", 0, 5));
        assertThat(most).hasValue(1);
    }

    /** The enemy: another process comes, and is to be given a partition of which something runs that does not end. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_partition_with_a_handler_that_hangs_is_handed_over_and_served(boolean givenUpBefore) {
        trunkline.topics().create(TopicConfiguration.pubSub("two").withPartitions(2));
        trap.add("k0");
        start(trunkline, "two", options(ONCE));
        Set<Integer> hanging = new HashSet<>();
        for (int i = 0; hanging.size() < 2; i++) {
            Receipt receipt =
                    trunkline.publisher().publish(Message.of("two", "v" + i).withKey("key" + i));
            if (hanging.add(receipt.partition().orElseThrow())) {
                trunkline.publisher().publish(Message.of("two", "k0").withKey("key" + i));
            }
        }
        if (givenUpBefore) {
            await(() -> count("dead_letter") == 2);
        }
        try (Trunkline other = database.options().lease(Duration.ofSeconds(3)).open()) {
            start(other, "two", options(ONCE));
            await(() -> database.number("select count(distinct session) from trunkline.holder where subscription = 1")
                    == 2);
            seen.clear();
            List<Message> works = texts("w", 0, 20).stream()
                    .map(text -> Message.of("two", text).withKey(text))
                    .toList();
            trunkline.publisher().publishAll(works);
            await(() -> ofKey("w").size() == 20);
            await(() -> count("dead_letter") == 2);
            release.countDown();
        }
    }

    /** The enemy: its partition is another's by then, so that nothing of it can be given up, and it keeps its place for ever. */
    @Test
    void a_handler_that_hangs_in_a_partition_that_was_lost_keeps_no_place() {
        AtomicInteger tries = new AtomicInteger();
        trunkline
                .createConsumerGroup("g", "t", String.class)
                .addConsumer("a", delivery -> {
                    if (tries.incrementAndGet() == 1) {
                        awaitWhateverHappens(release);
                    }
                    seen.add(delivery.payload());
                })
                .start(options(ONCE).withHandlerTimeout(Duration.ofSeconds(4)).withConcurrency(1));
        publish("k", 0, 3);
        await(() -> tries.get() == 1);
        database.execute("update trunkline.holder set session = null, epoch = epoch + 1"); // as who moves a group does
        await(() -> seen.equals(texts("k", 0, 3)));
        assertThat(count("dead_letter")).isZero();
    }

    /** The enemy: what its turn has done counts as under way for as long as it takes, and all of it comes again if its process dies. */
    @Test
    void what_a_turn_has_done_is_recorded_while_its_next_message_takes_long() {
        trap.add("k2");
        start(options(ONCE).withHandlerTimeout(Duration.ofMinutes(10)));
        publish("k", 0, 4);
        await(() ->
                database.query("select done from trunkline.done(1, array[0])").equals(List.of("{[0,2)}")));
        release.countDown();
        await(() ->
                database.query("select done from trunkline.done(1, array[0])").equals(List.of("{[0,4)}")));
        assertThat(seen).containsExactlyElementsOf(texts("k", 0, 4));
    }

    /** The enemy: what it has done can not be recorded any more, and it would try to for ever. */
    @Test
    void the_thread_of_a_handler_that_returns_after_all_is_closed_ends() throws InterruptedException {
        AtomicInteger tries = new AtomicInteger();
        AtomicReference<Thread> last = new AtomicReference<>();
        try (Trunkline closed = database.options().lease(Duration.ofSeconds(3)).open()) {
            ConsumerGroup<String> group = closed.createConsumerGroup("g", "t", String.class)
                    .addConsumer("a", delivery -> {
                        assertThat(tries.incrementAndGet()).as("is redriven").isGreaterThan(1);
                        last.set(Thread.currentThread());
                        awaitWhateverHappens(release);
                    })
                    .start(options(ONCE).withHandlerTimeout(Duration.ofMinutes(10)));
            publish("k", 0, 1);
            await(() -> count("dead_letter") == 1);
            database.number("select trunkline.redrive('g', 't')");
            await(() -> last.get() != null);
            group.close(Duration.ZERO);
        }
        release.countDown();
        assertThat(last.get().join(Duration.ofSeconds(30))).isTrue();
    }

    /** The enemy: a handler that hangs for whatever it is given has all of it given up, and takes a thread for each. */
    @Test
    void a_handler_that_hangs_for_everything_slows_the_group_down_and_gives_little_up() {
        trap.addAll(texts("k", 0, 100));
        ConsumerGroup<String> group = start(options(ONCE).withConcurrency(4));
        for (int i = 0; i < 100; i++) {
            trunkline.publisher().publish(Message.of("t", "k" + i).withKey("key" + i));
        }
        await(() -> group.metrics().failing());
        assertThat(count("dead_letter")).isLessThan(12);
        release.countDown();
        await(() -> ofKey("k").size() == 100);
        await(() -> !group.metrics().failing());
    }

    private static SubscriptionOptions options(RetryPolicy retry) {
        return SubscriptionOptions.fromBeginning().withRetry(retry).withHandlerTimeout(TIMEOUT);
    }

    /** The first try of a message fails. */
    private void startFailingOnce(String text) {
        AtomicInteger tries = new AtomicInteger();
        trunkline
                .createConsumerGroup("g", "t", String.class)
                .addConsumer("a", delivery -> {
                    if (delivery.payload().equals(text)) {
                        assertThat(tries.incrementAndGet()).as("is redriven").isGreaterThan(1);
                    }
                    hang(delivery.payload());
                    seen.add(delivery.payload());
                })
                .start(options(ONCE));
    }

    private ConsumerGroup<String> start(SubscriptionOptions options) {
        return start(trunkline, "t", options);
    }

    private ConsumerGroup<String> start(Trunkline where, String topic, SubscriptionOptions options) {
        return where.createConsumerGroup("g", topic, String.class)
                .addConsumer("a", delivery -> {
                    hang(delivery.payload());
                    seen.add(delivery.payload());
                })
                .start(options);
    }

    private void hang(String text) {
        if (trap.contains(text)) {
            awaitWhateverHappens(release);
        }
    }

    static void awaitWhateverHappens(CountDownLatch latch) {
        boolean over = false;
        while (!over) {
            try {
                over = latch.await(1, TimeUnit.MINUTES);
            } catch (InterruptedException e) {
                over = false;
            }
        }
    }

    private static void insertEffect(Connection connection, String text) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("insert into effect (text) values (?)")) {
            insert.setString(1, text);
            insert.executeUpdate();
        }
    }

    private void noteAtBurials(String sql) {
        database.execute("create function note() returns trigger language plpgsql security definer as $$ begin " + sql
                + "; return null; end $$");
        database.execute("create trigger note after insert on trunkline.dead_letter"
                + " for each statement execute function public.note()");
    }

    private void publish(String key, int from, int to) {
        trunkline
                .publisher()
                .publishAll(texts(key, from, to).stream()
                        .map(text -> Message.of("t", text).withKey(key))
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

    private static void await(java.util.concurrent.Callable<Boolean> condition) {
        Awaitility.await().atMost(Duration.ofSeconds(60)).until(condition);
    }
}
