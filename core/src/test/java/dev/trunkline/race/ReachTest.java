package dev.trunkline.race;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.ConsumerGroup;
import dev.trunkline.Message;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.testing.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who takes over from an owner that died knows what it can have begun, so that a message that kills its process is found (P14). */
@Timeout(300)
class ReachTest {

    private static final int REACH = 2_000;
    /** So many messages are read at once at most. */
    private static final int AT_ONCE = 500;

    private final TestDatabase database = TestDatabase.fresh();
    private final Trunkline trunkline = database.open();
    private final AtomicInteger seen = new AtomicInteger();

    @BeforeEach
    void create() {
        trunkline.topics().create(TopicConfiguration.pubSub("t").withPartitions(1));
        database.query("select trunkline.subscribe('g', 't', 'BEGINNING')");
    }

    @AfterEach
    void close() {
        trunkline.close();
    }

    private void publish(int count) {
        trunkline.publisher().publishAll(Collections.nCopies(count, Message.of("t", "m")));
    }

    private static ConsumerGroup<String> start(Trunkline at, String group, int window, AtomicInteger seen) {
        return at.createConsumerGroup(group, "t", String.class)
                .addConsumer("c", delivery -> seen.incrementAndGet())
                .start(SubscriptionOptions.fromBeginning().withWindow(window));
    }

    private List<String> holder(String group) {
        return database.query(
                "select h.session from trunkline.holder h join trunkline.subscription s on s.id = h.subscription"
                        + " where s.group_name = ?",
                group);
    }

    /** The process that held the groups' partition has died. */
    private void orphan() {
        database.execute("insert into trunkline.session (name, lease, ended_at) values ('dead', '3 s', now());"
                + "update trunkline.holder set session = (select max(id) from trunkline.session where name = 'dead')");
    }

    /** The enemy: handlers that take no time, and a recorder that is stuck; whoever comes after would look for what killed it too early. */
    @ParameterizedTest
    @ValueSource(ints = {2, REACH})
    void nothing_is_begun_far_beyond_what_is_recorded(int window) throws SQLException {
        start(trunkline, "g", window, seen);
        Awaitility.await().until(() -> !holder("g").contains("null"));
        try (Connection connection = database.connect();
                Trunkline another = database.open()) {
            connection.setAutoCommit(false);
            TestDatabase.query(
                    connection,
                    "select from trunkline.holder h join trunkline.subscription s on s.id = h.subscription"
                            + " where s.group_name = 'g' for update of h");
            publish(5 * REACH);
            AtomicInteger free = new AtomicInteger();
            start(another, "free", REACH, free);
            Awaitility.await().until(() -> free.get() == 5 * REACH);
            Awaitility.await().until(() -> seen.get() > REACH - AT_ONCE);
            for (int i = 1; i <= 50; i++) { // time enough to begin more
                publish(1);
                int all = 5 * REACH + i;
                Awaitility.await().pollInterval(Duration.ofMillis(5)).until(() -> free.get() == all);
            }
            assertThat(seen.get()).isLessThanOrEqualTo(REACH);
            connection.rollback();
        }
        Awaitility.await().until(() -> seen.get() == 5 * REACH + 50);
    }

    /** The enemy: what was not there at the last take-over was acquitted then, and could kill for ever. */
    @Test
    void what_was_published_after_a_take_over_is_suspect_after_the_next() throws InterruptedException {
        publish(1);
        orphan();
        start(trunkline, "g", REACH, seen).close();
        publish(3);
        orphan();
        CountDownLatch began = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        trunkline
                .createConsumerGroup("g", "t", String.class)
                .addConsumer("c", delivery -> {
                    if (delivery.message().offset() == 3) {
                        began.countDown();
                        mayEnd.await();
                    }
                })
                .start(SubscriptionOptions.fromBeginning());
        began.await();
        assertThat(database.query("select \"offset\" from trunkline.suspect")).contains("3");
        mayEnd.countDown();
    }

    /** The enemy: somebody moves a partition before anybody has taken it over, and nobody knows any more that its owner died. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "seek('some', 't', 'BEGINNING')",
                "force_complete('some', 't')",
                "subscribe('some', 't', a_keys => array[gen_random_uuid()::text])"
            })
    void who_moves_a_partition_whose_owner_died_leaves_it_orphaned(String move) {
        database.query("select trunkline.subscribe('some', 't', 'BEGINNING', a_keys => array['a'])");
        publish(3);
        orphan();
        database.query("select trunkline." + move);
        assertThat(holder("some")).containsExactly("0");

        database.query("update trunkline.holder set session = trunkline.begin_session('lives')");
        publish(3);
        database.query("select trunkline." + move);
        assertThat(holder("some")).containsExactly("null");
    }
}
