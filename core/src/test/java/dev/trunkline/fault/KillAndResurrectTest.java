package dev.trunkline.fault;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.ConsumerGroupAdmin.GroupState;
import dev.trunkline.ConsumerGroupAdmin.Health;
import dev.trunkline.GroupStatus;
import dev.trunkline.LogMessage;
import dev.trunkline.Message;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.rig.ChildJvm;
import dev.trunkline.testing.ConsumingProcess;
import dev.trunkline.testing.Seed;
import dev.trunkline.testing.TestDatabase;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** F22 and F23: the only process of a group is killed, for good or again and again. Minutes and hours are what upkeep is told. */
@Tag("fault")
@Timeout(300)
class KillAndResurrectTest {

    private static final String TOPIC = "orders.events";
    private static final String EMAIL = "email-service";
    private static final String ANALYTICS = "analytics-service";
    private static final String INVENTORY = "inventory-service";
    private static final int KEYS = 10;

    private final TestDatabase database = TestDatabase.fresh();
    private final long seed = Seed.next();
    private final Random random = new Random(seed);
    /** By group, and by key and number. */
    private final Map<String, Map<String, LogMessage>> handledHere =
            Map.of(EMAIL, new ConcurrentHashMap<>(), ANALYTICS, new ConcurrentHashMap<>());

    private Trunkline trunkline;
    private @Nullable ChildJvm inventory;
    private int perKey;

    @BeforeEach
    void open() {
        trunkline = database.options().lease(Duration.ofSeconds(3)).open();
        trunkline
                .topics()
                .create(TopicConfiguration.pubSub(TOPIC).withPartitions(4).withRetention(Duration.ofHours(24)));
        database.execute(ConsumingProcess.TABLE);
    }

    @AfterEach
    void close() {
        if (inventory != null) {
            inventory.close();
        }
        trunkline.close();
    }

    @Test
    void every_message_of_a_group_that_died_and_came_back_is_handled_or_in_a_declared_gap() throws Exception {
        handledHere.forEach((group, messages) -> trunkline
                .createConsumerGroup(group, TOPIC, String.class)
                .addConsumer(
                        "1", delivery -> messages.put(delivery.key() + "/" + delivery.payload(), delivery.message()))
                .start(SubscriptionOptions.fromBeginning()));
        startInventory();
        Set<String> published = new HashSet<>(publish(100));
        handleSomeAndDie(0);

        Set<String> dropped = publish(20);
        awaitOthers();
        database.query("select trunkline.roll_segment(1)");
        assertThat(trim()).as("the group is not dead yet").isFalse();
        await(() -> watched("0") && state(INVENTORY).health() == Health.UNATTENDED);
        watched("6 minutes");
        assertThat(state(INVENTORY).status()).isEqualTo(GroupStatus.DEAD);
        Set<String> kept = publish(20);
        awaitOthers();
        assertThat(trim()).isTrue();
        assertThat(state(EMAIL).status()).isEqualTo(state(ANALYTICS).status()).isEqualTo(GroupStatus.ACTIVE);

        startInventory();
        kept.addAll(publish(20));
        awaitOthers();
        await(() -> state(INVENTORY).pending() == 0);
        assertThat(state(INVENTORY).status()).isEqualTo(GroupStatus.ACTIVE);
        published.addAll(dropped);
        published.addAll(kept);
        Set<String> handled = new HashSet<>(database.query("select key || '/' || number from delivery"));
        Set<String> passedOver = passedOver();
        assertThat(handledHere.get(EMAIL).keySet()).as("seed %d", seed).isEqualTo(published);
        assertThat(handledHere.get(ANALYTICS).keySet()).as("seed %d", seed).isEqualTo(published);
        assertThat(published).as("seed %d", seed).allMatch(m -> handled.contains(m) || passedOver.contains(m));
        assertThat(passedOver).as("seed %d", seed).containsAll(dropped).doesNotContainAnyElementsOf(kept);
        assertThat(state(INVENTORY).passedOver()).as("seed %d", seed).isEqualTo(passedOver.size());
    }

    @Test
    void a_group_that_is_killed_and_restarted_within_its_time_is_never_dead_and_misses_nothing() throws Exception {
        for (int round = 0; round < 4; round++) {
            startInventory();
            long before = handled();
            publish(50);
            await(() -> watched("0") && state(INVENTORY).health() == Health.HEALTHY);
            handleSomeAndDie(before);
            // One that was alone in the hands of each would be a dead letter after the third.
            database.execute("update trunkline.suspect set alone = false");
            // Nobody serves it for four of five minutes, each time later: only if these were added up it would be dead.
            watched(4 * round + " minutes 10 seconds");
            watched(4 * round + 4 + " minutes");
            assertThat(state(INVENTORY).status()).as("seed %d", seed).isEqualTo(GroupStatus.ACTIVE);
        }
        startInventory();
        await(() -> handled() == (long) perKey * KEYS && state(INVENTORY).pending() == 0);
        assertThat(database.query("select key, number from ("
                        + "select key, number, row_number() over (partition by key order by min(id)) - 1 as place"
                        + " from delivery group by key, number) d where number <> place"))
                .as("out of place, seed %d", seed)
                .isEmpty();
        assertThat(trunkline.admin().gaps(INVENTORY, TOPIC)).isEmpty();
        assertThat(state(INVENTORY).deadLetters()).as("seed %d", seed).isZero();
        assertThat(database.query("select what from trunkline.group_event")).isEmpty();
    }

    @Test
    void a_group_whose_processes_die_before_they_get_anything_done_is_stalled() throws Exception {
        try (Connection gate = database.connect()) {
            gate.setAutoCommit(false);
            TestDatabase.query(gate, "lock table delivery in share mode");
            publish(1);
            // Not three times: then a message that was alone in the hands of the third is a dead letter.
            for (int died = 0; died < 2; died++) {
                startInventory();
                // The backends of those that died still wait, too.
                long others = died;
                await(() -> database.number(
                                "select count(*) from pg_locks where not granted and relation = 'delivery'::regclass")
                        > others);
                inventory.kill();
                assertThat(inventory.waitFor()).isNotZero();
            }
            startInventory();
            database.execute("update trunkline.subscription set created_at = created_at - interval '6 minutes',"
                    + " status_since = status_since - interval '6 minutes'");
            database.execute("update trunkline.segment_1 set appended_at = appended_at - interval '6 minutes'");
            await(() -> watched("0") && state(INVENTORY).health() == Health.STALLED);
            assertThat(state(INVENTORY).status()).isEqualTo(GroupStatus.ACTIVE);
            gate.rollback();
        }
        await(() -> state(INVENTORY).pending() == 0 && state(INVENTORY).health() == Health.HEALTHY);
        assertThat(handled()).isEqualTo(KEYS);
        assertThat(state(INVENTORY).deadLetters()).isZero();
    }

    private void startInventory() {
        ChildJvm process = ChildJvm.start(
                ConsumingProcess.class,
                database.url(),
                database.server().user(),
                database.server().password(),
                INVENTORY,
                TOPIC);
        inventory = process;
        String line = process.readLine();
        while (line != null && !line.startsWith(ConsumingProcess.STARTED)) {
            line = process.readLine();
        }
        assertThat(line).as("what a consumer says when it has started").isNotNull();
        process.passOn();
    }

    /** @param before what had been handled when the last messages were published: there are at least twice as many as it waits for */
    private void handleSomeAndDie(long before) throws InterruptedException {
        long some = before + 1 + random.nextInt(KEYS * 25);
        await(() -> handled() >= some);
        inventory.kill();
        assertThat(inventory.waitFor()).isNotZero();
    }

    private long handled() {
        return database.number("select count(distinct (key, number)) from delivery");
    }

    /** Publishes so many more messages of each key, and returns them by key and number. */
    private Set<String> publish(int more) {
        Set<String> published = new HashSet<>();
        List<Message> messages = new ArrayList<>();
        for (int end = perKey + more; perKey < end; perKey++) {
            for (int key = 0; key < KEYS; key++) {
                messages.add(Message.of(TOPIC, Integer.toString(perKey)).withKey("k" + key));
                published.add("k" + key + "/" + perKey);
            }
        }
        trunkline.publisher().publishAll(messages);
        return published;
    }

    private void awaitOthers() {
        await(() -> handledHere.values().stream().allMatch(messages -> messages.size() == perKey * KEYS));
        await(() -> state(EMAIL).pending() + state(ANALYTICS).pending() == 0);
    }

    private GroupState state(String group) {
        return trunkline.admin().find(group, TOPIC).orElseThrow();
    }

    /** What upkeep sees so much later. */
    private boolean watched(String later) {
        database.query("select trunkline.watch_groups(clock_timestamp() + ?::interval)", later);
        return true;
    }

    /** Retention, so much later that all but the current segment may go: whether something went. */
    private boolean trim() {
        return !database.queryWhenUnlocked("select trunkline.trim(1, clock_timestamp() + interval '25 hours')")
                .getFirst()
                .equals("null");
    }

    /** The messages in the declared gaps, by their places, which the other groups know. */
    private Set<String> passedOver() {
        Set<String> messages = new HashSet<>();
        handledHere.get(EMAIL).forEach((name, message) -> {
            if (trunkline.admin().gaps(INVENTORY, TOPIC).stream()
                    .anyMatch(gap -> gap.partition() == message.partition()
                            && gap.from() <= message.offset()
                            && message.offset() < gap.to())) {
                messages.add(name);
            }
        });
        return messages;
    }

    private void await(Callable<Boolean> condition) {
        Awaitility.await("seed " + seed)
                .atMost(Duration.ofSeconds(60))
                .pollInterval(Duration.ofMillis(20))
                .until(condition);
    }
}
