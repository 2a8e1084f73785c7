package dev.trunkline.behaviour;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.trunkline.ConsumerGroupAdmin.Gap;
import dev.trunkline.ConsumerGroupAdmin.GroupState;
import dev.trunkline.ConsumerGroupAdmin.Moved;
import dev.trunkline.ConsumerGroupException;
import dev.trunkline.Message;
import dev.trunkline.PullConsumer;
import dev.trunkline.PullOptions;
import dev.trunkline.Receipt;
import dev.trunkline.Start;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.UnknownTopicException;
import dev.trunkline.testing.TestDatabase;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Where groups begin, and where they are moved to. */
@Timeout(300)
class StartsTest {

    private final TestDatabase database = TestDatabase.fresh();
    private Trunkline trunkline;

    @BeforeEach
    void open() {
        // Without background work what is published is in the log at once, where a pop that does not wait finds it.
        trunkline = database.options()
                .lease(Duration.ofSeconds(3))
                .backgroundWork(false)
                .open();
        trunkline.topics().create(TopicConfiguration.pubSub("t").withPartitions(2));
    }

    @AfterEach
    void close() {
        trunkline.close();
    }

    private Receipt publish(int partition, String payload) {
        for (int i = 0; ; i++) {
            if (database.number("select trunkline.partition_of(?, 2)", "k" + i) == partition) {
                return trunkline.publisher().publish(Message.of("t", payload).withKey("k" + i));
            }
        }
    }

    private List<String> handled(String group, Start start) {
        PullConsumer<String> consumer = trunkline.pull(group, "t", String.class, PullOptions.from(start));
        List<String> payloads = new ArrayList<>();
        while (consumer.pop(100, Duration.ofSeconds(30))
                .map(batch -> {
                    batch.deliveries().forEach(delivery -> payloads.add(delivery.payload()));
                    consumer.ack(batch.token());
                    return true;
                })
                .orElse(false)) {
            assertThat(payloads).hasSizeLessThan(100);
        }
        return payloads;
    }

    @Test
    void a_group_begins_where_it_says() throws Exception {
        publish(0, "a0");
        publish(1, "b0");
        Instant between = now();
        Receipt a1 = publish(0, "a1");
        publish(1, "b1");
        publish(0, "a2");

        assertThat(handled("all", Start.beginning())).containsExactlyInAnyOrder("a0", "b0", "a1", "b1", "a2");
        assertThat(handled("new", Start.now())).isEmpty();
        assertThat(handled("recent", Start.now(Duration.ofHours(1)))).hasSize(5);
        assertThat(handled("since", Start.at(between))).containsExactlyInAnyOrder("a1", "b1", "a2");
        assertThat(handled("before", Start.at(between.minusSeconds(3600)))).hasSize(5);
        assertThat(handled("second", Start.offset(1))).containsExactlyInAnyOrder("a1", "a2", "b1");
        assertThat(handled("last", Start.offset(3))).isEmpty();
        assertThat(handled("from message", Start.message(a1.id()))).containsExactlyInAnyOrder("a1", "a2", "b1");
        publish(1, "b2");
        assertThat(handled("new", Start.now())).containsExactly("b2");
    }

    private Instant now() {
        return Instant.parse(database.query(
                        "select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')")
                .getFirst());
    }

    @Test
    void the_first_start_counts_and_is_kept_with_what_was_asked_for() {
        publish(0, "a0");
        assertThat(handled("g", Start.beginning())).containsExactly("a0");
        publish(0, "a1");
        assertThat(handled("g", Start.now())).containsExactly("a1");
        assertThat(database.query("select start_mode, start_at, start_number from trunkline.groups"))
                .containsExactly("BEGINNING|null|null");
    }

    @Test
    void the_default_of_the_installation_counts_for_groups_that_do_not_say_and_not_for_those_that_are() {
        publish(0, "a0");
        assertThat(handled("early", Start.byDefault())).isEmpty();
        trunkline.topics().defaultStart(Start.Mode.BEGINNING);
        assertThat(handled("late", Start.byDefault())).containsExactly("a0");
        assertThat(handled("early", Start.byDefault())).isEmpty();
        assertThatThrownBy(() -> trunkline.topics().defaultStart(Start.Mode.OFFSET))
                .hasMessageContaining("NOW or at the BEGINNING");
    }

    /** The story of a partition that a group finds late: what came into it since the group began is not skipped. */
    @Test
    void a_partition_that_nobody_has_read_before_is_read_from_where_the_group_began() throws Exception {
        publish(0, "before");
        handled("g", Start.now());
        publish(1, "m1");
        publish(1, "m2");
        publish(1, "m3");
        assertThat(handled("g", Start.now())).containsExactly("m1", "m2", "m3");
    }

    @Test
    void places_that_do_not_exist_are_refused_and_no_group_is_made() {
        publish(0, "a0");
        assertThatThrownBy(() -> handled("g", Start.at(Instant.now().plusSeconds(3600))))
                .hasMessageContaining("yet to come");
        assertThatThrownBy(() -> handled("g", Start.offset(2)))
                .isInstanceOf(ConsumerGroupException.class)
                .hasMessageContaining("ends at 1");
        assertThatThrownBy(() -> handled("g", Start.message(123456))).hasMessageContaining("not in the log");
        assertThatThrownBy(() -> database.query("select trunkline.subscribe('g', 't', 'OFFSET', 'PULL', now(), 1)"))
                .hasMessageContaining("two were named");
        assertThatThrownBy(() -> database.query("select trunkline.subscribe('g', 't', 'TIMESTAMP', 'PULL')"))
                .hasMessageContaining("needs one");
        assertThatThrownBy(() -> database.query("select trunkline.subscribe('g', 't', 'SOMEWHERE', 'PULL')"))
                .hasMessageContaining("\"SOMEWHERE\" is no place to start");
        assertThatThrownBy(() -> Start.offset(-1)).hasMessageContaining("-1");
        assertThatThrownBy(() -> Start.now(Duration.ofSeconds(-1))).hasMessageContaining("look back");
        assertThat(trunkline.admin().groups()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "yesterday",
                "2026-11-16",
                "2026-11-16T08:00:00",
                "2026-02-30T08:00:00Z",
                "offset:",
                "offset:-1",
                "message:x"
            })
    void texts_that_name_no_place_are_refused(String text) {
        assertThatThrownBy(() -> Start.parse(text)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void texts_that_name_a_place_are_read() {
        assertThat(Start.parse("all")).isEqualTo(Start.parse("beginning")).isEqualTo(Start.beginning());
        assertThat(Start.parse("new")).isEqualTo(Start.parse("now")).isEqualTo(Start.now());
        assertThat(Start.parse("offset:7")).isEqualTo(Start.offset(7));
        assertThat(Start.parse("message:7")).isEqualTo(Start.message(7));
        assertThat(Start.parse("2026-11-16T08:00:00+01:00")).isEqualTo(Start.at(Instant.parse("2026-11-16T07:00:00Z")));
    }

    // ---- moving ----

    @Test
    void a_plan_tells_what_the_move_then_does() {
        for (int i = 0; i < 10; i++) {
            publish(0, "a" + i);
        }
        handled("g", Start.beginning());
        publish(1, "b0");
        List<Moved> plan = trunkline.admin().planSeek("g", "t", Start.offset(4));
        assertThat(plan).containsExactly(new Moved(0, 0, 10, 4, 6, 0), new Moved(1, 0, 0, 1, 0, 1));
        assertThat(pending("g")).isEqualTo(1);
        assertThat(trunkline.admin().seek("g", "t", Start.offset(4))).isEqualTo(plan);
        assertThat(pending("g")).isEqualTo(6);
        assertThat(trunkline.admin().gaps("g", "t"))
                .extracting(Gap::partition, Gap::from, Gap::to, Gap::reason)
                .containsExactly(org.assertj.core.groups.Tuple.tuple(1, 0L, 1L, "SEEK"));
        assertThat(handled("g", Start.now())).containsExactly("a4", "a5", "a6", "a7", "a8", "a9");
        assertThat(database.query("select what, detail from trunkline.group_event"))
                .contains("seek|OFFSET 4");

        // What was passed over and is read after all was never missed.
        trunkline.admin().seek("g", "t", Start.beginning());
        assertThat(trunkline.admin().gaps("g", "t")).isEmpty();
        assertThat(handled("g", Start.now())).hasSize(11);
    }

    private long pending(String group) {
        return trunkline.admin().find(group, "t").map(GroupState::pending).orElseThrow();
    }

    @Test
    void a_running_group_is_moved_only_by_force_and_then_handles_again() throws Exception {
        List<String> seen = new CopyOnWriteArrayList<>();
        publish(0, "a0");
        publish(0, "a1");
        trunkline
                .createConsumerGroup("g", "t", String.class)
                .addConsumer("c", delivery -> seen.add(delivery.payload()))
                .start(SubscriptionOptions.fromBeginning());
        Awaitility.await().until(() -> pending("g") == 0);
        assertThatThrownBy(() -> trunkline.admin().seek("g", "t", Start.beginning()))
                .isInstanceOf(ConsumerGroupException.class)
                .hasMessageContaining("is running");
        trunkline.admin().seekByForce("g", "t", 0, Start.offset(1));
        Awaitility.await().untilAsserted(() -> assertThat(seen).containsExactly("a0", "a1", "a1"));
        trunkline.admin().pause("g", "t");
        trunkline.admin().seek("g", "t", Start.beginning());
        trunkline.admin().resume("g", "t");
        Awaitility.await().untilAsserted(() -> assertThat(seen).containsExactly("a0", "a1", "a1", "a0", "a1"));
    }

    @Test
    void what_an_owner_does_for_its_old_place_does_not_count_after_a_move() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch gate = new CountDownLatch(1);
        List<Integer> attempts = new CopyOnWriteArrayList<>();
        publish(0, "a0");
        trunkline
                .createConsumerGroup("g", "t", String.class)
                .addConsumer("c", delivery -> {
                    attempts.add(attempts.size());
                    begun.countDown();
                    gate.await();
                })
                .start(SubscriptionOptions.fromBeginning());
        begun.await();
        trunkline.admin().seekByForce("g", "t", Start.beginning());
        gate.countDown();
        Awaitility.await().until(() -> pending("g") == 0);
        assertThat(attempts).hasSize(2);
    }

    @Test
    void what_waits_in_a_process_is_forgotten_when_its_group_is_moved_past_it() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch gate = new CountDownLatch(1);
        List<String> seen = new CopyOnWriteArrayList<>();
        for (int i = 0; i < 20; i++) {
            publish(0, "old " + i);
        }
        trunkline
                .createConsumerGroup("g", "t", String.class)
                .addConsumer("c", delivery -> {
                    begun.countDown();
                    gate.await();
                    seen.add(delivery.payload());
                })
                .start(SubscriptionOptions.fromBeginning());
        begun.await();
        // The move is one epoch, and whoever takes the partition after it begins the next.
        long moved = database.number("select epoch from trunkline.holder where partition = 0") + 1;
        trunkline.admin().seekByForce("g", "t", Start.now());
        Awaitility.await()
                .until(() -> database.number("select epoch from trunkline.holder where partition = 0") > moved);
        publish(0, "new");
        gate.countDown();
        Awaitility.await().until(() -> seen.containsAll(List.of("old 0", "new")));
        assertThat(seen).containsExactlyInAnyOrder("old 0", "new");
    }

    /** The enemy: a fold that has read the progress before the move, and writes after it. */
    @Test
    void a_fold_that_began_before_a_move_does_not_undo_it() throws Exception {
        publish(0, "a0");
        handled("g", Start.beginning());
        try (Connection mover = database.connect();
                Connection folder = database.connect();
                Statement moving = mover.createStatement();
                Statement folding = folder.createStatement()) {
            mover.setAutoCommit(false);
            moving.execute("select from trunkline.holder for update");
            long pid = Long.parseLong(
                    TestDatabase.query(folder, "select pg_backend_pid()").getFirst());
            CompletableFuture<Boolean> fold = CompletableFuture.supplyAsync(() -> {
                try {
                    return folding.execute("select trunkline.fold_progress(0)");
                } catch (java.sql.SQLException e) {
                    throw new IllegalStateException(e);
                }
            });
            Awaitility.await()
                    .until(() ->
                            database.number("select count(*) from pg_locks where pid = ? and not granted", (int) pid)
                                    > 0);
            moving.execute("select trunkline.seek('g', 't', 'BEGINNING')");
            mover.commit();
            fold.get();
        }
        assertThat(pending("g")).isEqualTo(1);
        assertThat(handled("g", Start.now())).containsExactly("a0");
    }

    @Test
    void who_names_what_is_not_there_is_told_so() {
        handled("g", Start.now());
        assertThatThrownBy(() -> trunkline.admin().seek("nobody", "t", Start.now()))
                .hasMessageContaining("no group \"nobody\"");
        assertThatThrownBy(() -> trunkline.admin().seek("g", "nothing", Start.now()))
                .isInstanceOf(UnknownTopicException.class);
        assertThatThrownBy(() -> trunkline.admin().seekByForce("g", "t", 2, Start.now()))
                .hasMessageContaining("no partition 2");
        trunkline.admin().cancel("g", "t");
        assertThatThrownBy(() -> trunkline.admin().seek("g", "t", Start.now())).hasMessageContaining("cancelled");
    }
}
