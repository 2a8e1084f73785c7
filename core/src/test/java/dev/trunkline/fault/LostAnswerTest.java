package dev.trunkline.fault;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.ConsumerGroup;
import dev.trunkline.Message;
import dev.trunkline.RetryPolicy;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.rig.FaultProxy;
import dev.trunkline.rig.FaultProxy.Fate;
import dev.trunkline.testing.TestDatabase;
import java.sql.PreparedStatement;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** F9 for groups: what a group decides about a message is done, and the answer is lost. P9 and P5 hold all the same. */
@Tag("fault")
@Timeout(300)
class LostAnswerTest {

    private final TestDatabase database = TestDatabase.fresh();
    private final FaultProxy proxy = new FaultProxy(database.server().port());
    /** What the handler fails for. */
    private final Set<String> poison = ConcurrentHashMap.newKeySet();

    private Trunkline trunkline;

    @BeforeEach
    void open() {
        trunkline = Trunkline.builder()
                .url(
                        proxy.jdbcUrl(database.name()),
                        database.server().user(),
                        database.server().password())
                .directUrl(database.url())
                .lease(Duration.ofSeconds(3))
                .open();
        trunkline.topics().create(TopicConfiguration.pubSub("t").withPartitions(1));
        database.execute("create table effect (id bigint generated always as identity, text text)");
    }

    @AfterEach
    void close() {
        trunkline.close();
        proxy.close();
    }

    @ParameterizedTest
    @EnumSource(names = {"REQUEST_CUT", "REPLY_CUT"})
    void a_message_is_done_or_a_dead_letter_and_never_both(Fate fate) {
        poison.add("k0");
        proxy.trap("trunkline.bury(", fate);
        start(new RetryPolicy(1, Duration.ZERO, Duration.ZERO));
        publish(3);
        await(() -> proxy.trapped() == 1);
        poison.clear();
        await(() -> count("parked") == 2 || count("effect") == 3);
        redrive();
        await(() -> count("dead_letter") == 0 && count("parked") == 0 && count("effect") >= 3);
        assertThat(effects()).containsExactlyElementsOf(texts(3));
    }

    @ParameterizedTest
    @EnumSource(names = {"REQUEST_CUT", "REPLY_CUT"})
    void a_message_is_parked_or_done_and_never_both(Fate fate) {
        poison.add("k0");
        proxy.trap("trunkline.park(", fate);
        ConsumerGroup<String> group = start(new RetryPolicy(1_000_000, Duration.ofMillis(5), Duration.ofMillis(5)));
        publish(30);
        await(() -> proxy.trapped() == 1);
        poison.clear();
        await(() -> count("effect") >= 30);
        group.close();
        start(RetryPolicy.standard());
        await(() -> count("parked") == 0 && count("blocked") == 0);
        assertThat(effects()).containsExactlyElementsOf(texts(30));
    }

    @ParameterizedTest
    @EnumSource(names = {"REQUEST_CUT", "REPLY_CUT"})
    void what_comes_behind_a_parked_key_is_parked_or_done_and_never_both(Fate fate) {
        poison.add("k0");
        start(new RetryPolicy(1_000_000, Duration.ofMillis(5), Duration.ofMillis(5)));
        publish(0, 30);
        await(() -> count("parked") == 30);
        proxy.trap("trunkline.park(", fate);
        publish(30, 35);
        await(() -> proxy.trapped() == 1);
        poison.clear();
        await(() -> count("effect") >= 35 && count("parked") == 0 && count("blocked") == 0);
        publish(35, 36);
        await(() -> effects().contains("k35"));
        assertThat(effects()).containsExactlyElementsOf(texts(36));
    }

    @ParameterizedTest
    @EnumSource(names = {"REQUEST_CUT", "REPLY_CUT"})
    void what_is_redriven_is_handled_by_the_owner_that_carried_it_out(Fate fate) {
        poison.add("k0");
        start(new RetryPolicy(1, Duration.ZERO, Duration.ZERO));
        publish(3);
        await(() -> count("parked") == 2);
        poison.clear();
        proxy.trap("trunkline.carry_out(", fate);
        redrive();
        await(() -> proxy.trapped() == 1);
        await(() -> count("effect") == 3);
        assertThat(effects()).containsExactlyElementsOf(texts(3));
    }

    @Test
    void a_message_whose_handler_was_never_called_is_no_dead_letter() {
        start(new RetryPolicy(1, Duration.ZERO, Duration.ZERO));
        publish(1);
        await(() -> count("effect") == 1);
        // The connection is good when it is taken, and gone with the first statement, which is not the handler's.
        proxy.trap("trunkline.delivery", Fate.REQUEST_CUT);
        trunkline.publisher().publish(Message.of("t", "never called").withKey("other"));
        await(() -> proxy.trapped() == 1);
        await(() -> count("effect") == 2 || count("dead_letter") == 1);
        assertThat(count("dead_letter")).isZero();
    }

    private ConsumerGroup<String> start(RetryPolicy retry) {
        return trunkline
                .createConsumerGroup("g", "t", String.class)
                .addTransactionalConsumer("a", (delivery, connection) -> {
                    try (PreparedStatement insert =
                            connection.prepareStatement("insert into effect (text) values (?)")) {
                        insert.setString(1, delivery.payload());
                        insert.executeUpdate();
                    }
                    if (poison.contains(delivery.payload())) {
                        throw new IllegalStateException(delivery.payload() + " is poison");
                    }
                })
                .start(SubscriptionOptions.fromBeginning().withWindow(40).withRetry(retry));
    }

    private void publish(int count) {
        publish(0, count);
    }

    private void publish(int from, int to) {
        trunkline
                .publisher()
                .publishAll(texts(to).subList(from, to).stream()
                        .map(text -> Message.of("t", text).withKey("k"))
                        .toList());
    }

    private void redrive() {
        database.number("select trunkline.redrive('g', 't')");
    }

    private static List<String> texts(int count) {
        return IntStream.range(0, count).mapToObj(i -> "k" + i).toList();
    }

    private List<String> effects() {
        return database.query("select text from effect order by id");
    }

    private long count(String table) {
        return database.number("select count(*) from " + (table.equals("effect") ? "effect" : "trunkline." + table));
    }

    private static void await(Callable<Boolean> condition) {
        Awaitility.await().atMost(Duration.ofSeconds(60)).until(condition);
    }
}
