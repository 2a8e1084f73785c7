package dev.trunkline.race;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.ConsumerGroup;
import dev.trunkline.GroupListener;
import dev.trunkline.Message;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.testing.TestDatabase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** P6: who lost a partition can change nothing. P5: who takes it over goes on where it was recorded. */
@Timeout(300)
class OwnershipTest {

    private static final String RECORD =
            "select trunkline.record(?, array[1], array[0], array[0], array[?::bigint], array[?::bigint], array[?])";

    /** A lease that no process loses because it stands still for a while. */
    private static final Duration LONG = Duration.ofMinutes(10);

    private final TestDatabase database = TestDatabase.fresh();
    private final List<Trunkline> processes = new ArrayList<>();

    @BeforeEach
    void create() {
        open().topics().create(TopicConfiguration.pubSub("t").withPartitions(4));
    }

    @AfterEach
    void close() {
        processes.forEach(Trunkline::close);
    }

    @Test
    void an_owner_that_was_replaced_can_record_nothing() {
        database.query("select subscription from trunkline.subscribe('g', 't', 'BEGINNING')");
        long first = database.number("select trunkline.begin_session('first')");
        long second = database.number("select trunkline.begin_session('second')");
        assertThat(database.query("select epoch from trunkline.take(?, 1, 4)", first))
                .containsOnly("1");
        assertThat(database.query("select epoch from trunkline.take(?, 1, 4)", second))
                .isEmpty();
        assertThat(database.query(RECORD, first, 1, 1, "{[0,5)}")).containsExactly("{1}");

        assertThat(database.query("select trunkline.end_session(?, 0)", first)).containsExactly("t");
        assertThat(database.query("select epoch from trunkline.take(?, 1, 4)", second))
                .containsOnly("2");
        assertThat(database.query(RECORD, first, 1, 2, "{[0,9)}")).containsExactly("null");
        assertThat(database.query(RECORD, first, 2, 2, "{[0,9)}")).containsExactly("null");
        assertThat(database.query("select done from trunkline.done(1, array[0])"))
                .containsExactly("{[0,5)}");
        assertThat(database.query("select epoch from trunkline.take(?, 1, 4)", first))
                .isEmpty();
        assertThat(database.query("select trunkline.beat(?)", first)).containsExactly("f");
    }

    /** The enemy: it counts failures of what its successor has done, and clears it of what its successor knows. */
    @Test
    void an_owner_that_was_replaced_counts_no_attempts_and_names_no_suspects() {
        database.query("select subscription from trunkline.subscribe('g', 't', 'BEGINNING')");
        long first = database.number("select trunkline.begin_session('first')");
        long second = database.number("select trunkline.begin_session('second')");
        database.query("select epoch from trunkline.take(?, 1, 4)", first);
        String fail = "select trunkline.note_failures(1, 0, '{%d}', '{1}', 'failed', null, %d)";
        String forget = "select trunkline.forget_failures(1, 0, '{5,6}', ?)";
        String suspect = "select trunkline.note_suspects(?, 1, '{0}', '{5}', false)";
        String attempts = "select \"offset\" from trunkline.attempt";
        database.query(fail.formatted(5, first));
        assertThat(database.query(attempts)).containsExactly("5");
        database.query(forget, first);
        assertThat(database.query(attempts)).isEmpty();

        database.query("select trunkline.end_session(?, 0)", first);
        database.query("select epoch from trunkline.take(?, 1, 4)", second);
        database.query(fail.formatted(5, second));
        database.query(fail.formatted(6, first));
        database.query(forget, first);
        database.query(suspect, first);
        assertThat(database.query(attempts)).containsExactly("5");
        assertThat(database.query("select \"offset\" from trunkline.suspect")).isEmpty();
        database.query(suspect, second);
        assertThat(database.query("select session from trunkline.suspect")).containsExactly("" + second);
    }

    /** The enemy: it dies of what is under way in a partition that it keeps, and nobody knows that this was noted. */
    @Test
    void who_lets_a_partition_go_forgets_the_suspects_of_no_other() {
        database.query("select subscription from trunkline.subscribe('g', 't', 'BEGINNING')");
        long session = database.number("select trunkline.begin_session('first')");
        database.query("select epoch from trunkline.take(?, 1, 4)", session);
        database.query("select trunkline.note_suspects(?, 1, '{0,1}', '{5,7}', false)", session);
        database.query("select trunkline.release_partitions(?, 1, '{1}', '{1}')", session);
        assertThat(database.query("select strand, \"offset\" from trunkline.suspect"))
                .containsExactly("0|5");
    }

    /** The enemy: what its last owner died of is still to be handled when the partition is handed on, and kills one after the other. */
    @Test
    void an_orphan_that_is_handed_on_before_its_suspects_are_handled_is_still_one() {
        database.query("select subscription from trunkline.subscribe('g', 't', 'BEGINNING')");
        long session = database.number("select trunkline.begin_session('s')");
        database.query("select epoch from trunkline.take(?, 1, 2)", session);
        database.query("select trunkline.release_partitions(?, 1, '{0,1}', '{1,1}', '{true,false}')", session);
        assertThat(database.query("select partition, orphaned from trunkline.take(?, 1, 2)", session))
                .containsExactlyInAnyOrder("0|t", "1|f");
    }

    @Test
    void a_release_that_comes_late_does_not_free_what_was_taken_again() {
        database.query("select subscription from trunkline.subscribe('g', 't', 'BEGINNING')");
        long session = database.number("select trunkline.begin_session('s')");
        String release = "select trunkline.release_partitions(?, 1, array[0], array[1::bigint])";
        database.query("select epoch from trunkline.take(?, 1, 1)", session);
        database.query(release, session);
        assertThat(database.query("select partition, epoch from trunkline.take(?, 1, 1)", session))
                .containsExactly("0|2");
        database.query("select trunkline.note_suspects(?, 1, '{0}', '{5}', false)", session);
        database.query(release, session);
        assertThat(database.query("select partition, epoch from trunkline.holder where session = ?", session))
                .containsExactly("0|2");
        assertThat(database.query("select strand, \"offset\" from trunkline.suspect"))
                .containsExactly("0|5");
    }

    @Test
    void a_beat_that_moved_on_saves_a_session() {
        long session = database.number("select trunkline.begin_session('quick')");
        database.query("select trunkline.beat(?)", session);
        assertThat(database.query("select trunkline.end_session(?, 0)", session))
                .containsExactly("f");
    }

    @Test
    void progress_is_the_union_of_all_rows_and_survives_its_rotation() {
        database.query("select subscription from trunkline.subscribe('g', 't', 'BEGINNING')");
        long session = database.number("select trunkline.begin_session('s')");
        database.query("select epoch from trunkline.take(?, 1, 4)", session);
        database.query(RECORD, session, 1, 1, "{[0,5),[7,8)}");
        database.query(RECORD, session, 1, 2, "{[0,3)}");
        assertThat(rotate()).isEqualTo("t");
        // Somebody had looked up the slot before it changed.
        database.execute(
                "insert into trunkline.progress_0 (subscription, strand, epoch, sequence, done) values (1, 0, 1, 3, '{[5,6)}')");
        database.query(RECORD, session, 1, 4, "{[9,10)}");
        assertThat(rotate()).isEqualTo("t");
        assertThat(database.number("select count(*) from trunkline.progress_0")).isEqualTo(3);
        assertThat(rotate()).isEqualTo("t");
        assertThat(database.number("select count(*) from trunkline.progress_0")).isZero();
        assertThat(database.query("select done from trunkline.done(1, array[0])"))
                .containsExactly("{[0,6),[7,8),[9,10)}");
        for (int i = 0; i < 4; i++) {
            rotate();
        }
        assertThat(database.number("select count(*) from trunkline.progress")).isZero();
        assertThat(database.query("select done from trunkline.done(1, array[0])"))
                .containsExactly("{[0,6),[7,8),[9,10)}");
    }

    private String rotate() {
        return database.query("select trunkline.rotate_progress('0', clock_timestamp() + interval '1 second')")
                .getFirst();
    }

    @Test
    void retention_keeps_what_a_group_has_not_done() {
        Trunkline trunkline = processes.getFirst();
        database.query("select subscription from trunkline.subscribe('g', 't', 'BEGINNING')");
        for (int i = 0; i < 20; i++) {
            trunkline.publisher().publish(Message.of("t", "m" + i).withKey("k" + i));
        }
        database.query("select trunkline.roll_segment(1)");
        database.execute("update trunkline.topic set retention = '1 microsecond'");
        database.query("select trunkline.upkeep('trim', 1)");
        assertThat(database.query("select id from trunkline.segment order by id"))
                .containsExactly("1", "2");
        database.query("select trunkline.set_status(1, 'CANCELLED')");
        database.query("select trunkline.upkeep('trim', 1)");
        assertThat(database.query("select id from trunkline.segment order by id"))
                .containsExactly("2");
    }

    @Test
    void processes_share_the_partitions_and_a_clean_close_hands_over_at_once() {
        List<String> seen = new CopyOnWriteArrayList<>();
        List<ConsumerGroup<String>> groups = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            groups.add(group(open(LONG), seen));
        }
        await(() -> database.query(
                        "select count(*) from trunkline.holder group by session having session is not null order by 1")
                .equals(List.of("2", "2")));
        publish(100);
        await(() -> seen.size() == 100);
        groups.getFirst().close();
        // The other may have taken them by now.
        assertThat(database.number("select count(distinct session) from trunkline.holder where session is not null"))
                .isOne();
        publish(100);
        await(() -> seen.size() == 200);
        assertThat(seen.subList(100, 200)).doesNotHaveDuplicates();
        await(() ->
                database.number("select count(distinct session) from trunkline.holder where session is not null") == 1
                        && database.number("select count(*) from trunkline.holder where session is null") == 0);
    }

    @Test
    void a_process_whose_session_was_ended_loses_its_partitions_and_begins_anew() throws Exception {
        List<String> seen = new CopyOnWriteArrayList<>();
        Trunkline process = open();
        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        process.createConsumerGroup("g", "t", String.class)
                .addConsumer("a", delivery -> {
                    if (delivery.epoch() == 1 && delivery.payload().equals("m0")) {
                        running.countDown();
                        release.await();
                    }
                    seen.add(delivery.epoch() + " " + delivery.payload());
                })
                .start(SubscriptionOptions.fromBeginning());
        publish(1);
        running.await();
        database.execute("update trunkline.session set ended_at = clock_timestamp()");
        await(() -> database.number("select max(epoch) from trunkline.holder") >= 2);
        release.countDown();
        // What the old epoch did is not recorded: the new one does it again.
        await(() -> seen.stream().anyMatch(each -> each.endsWith(" m0") && !each.startsWith("1 ")));
        await(() -> lag() == 0);
        assertThat(database.number("select count(*) from trunkline.progress p where p.epoch = 1"))
                .isZero();
    }

    @Test
    void a_process_that_beats_seldom_is_not_ended_by_one_that_would_have_to_beat_often() {
        group(open(LONG), new CopyOnWriteArrayList<>());
        long seldom = database.number("select max(id) from trunkline.session");
        database.number("select trunkline.begin_session('never beats', '3 seconds')");
        group(open(), new CopyOnWriteArrayList<>());
        await(() -> database.number(
                        "select count(*) from trunkline.session where ended_at is not null and name = 'never beats'")
                == 1);
        // Whoever looked has seen the other one stand still for as long.
        assertThat(database.query("select ended_at is null from trunkline.session where id = ?", seldom))
                .containsExactly("t");
    }

    @Test
    void who_closes_keeps_only_the_partitions_whose_handlers_run_and_others_get_all_the_rest() throws Exception {
        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        ConsumerGroup<String> leaving = open().createConsumerGroup("g", "t", String.class)
                .addConsumer("a", delivery -> {
                    running.countDown();
                    release.await();
                })
                .start(SubscriptionOptions.fromBeginning());
        publish(1);
        running.await();
        Thread closing = Thread.ofPlatform().start(() -> leaving.close(Duration.ofMinutes(5)));
        group(open(), new CopyOnWriteArrayList<>());
        await(() -> database.query(
                        "select count(*) from trunkline.holder group by session having session is not null order by 1")
                .equals(List.of("1", "3")));
        release.countDown();
        closing.join();
        await(() ->
                database.number("select count(distinct session) from trunkline.holder where session is not null") == 1);
    }

    /** The enemy: its process beats, so nobody takes what it does not serve. */
    @Test
    void a_group_whose_loop_stands_still_in_a_listener_is_served_by_others_until_it_goes_on() throws Exception {
        CountDownLatch blocked = new CountDownLatch(1);
        CompletableFuture<Void> release = new CompletableFuture<>();
        List<String> here = new CopyOnWriteArrayList<>();
        List<String> there = new CopyOnWriteArrayList<>();
        open().createConsumerGroup("g", "t", String.class)
                .listener(new GroupListener() {
                    @Override
                    public void taken(int partition, long epoch) {
                        blocked.countDown();
                        release.join();
                    }
                })
                .addConsumer("a", delivery -> here.add(delivery.payload()))
                .start(SubscriptionOptions.fromBeginning());
        blocked.await();
        group(open(), there);
        publish(8);
        await(() -> there.size() == 8);
        await(() -> lag() == 0);
        assertThat(database.number("select count(distinct session) from trunkline.holder where session is not null"))
                .isEqualTo(1);
        assertThat(here).isEmpty();
        release.complete(null);
        await(() -> database.query(
                        "select count(*) from trunkline.holder group by session having session is not null order by 1")
                .equals(List.of("2", "2")));
        publish(8);
        await(() -> here.size() + there.size() == 16 && !here.isEmpty());
    }

    /** The enemy: the process lives on, with other groups, and nobody would ever take what it still has. */
    @Test
    void what_could_not_be_handed_over_at_a_close_is_handed_over_later() {
        Trunkline process = open();
        ConsumerGroup<String> leaving = group(process, new CopyOnWriteArrayList<>());
        await(() -> database.number("select count(*) from trunkline.holder where epoch = 1") == 4);
        database.execute("create function refuse() returns trigger language plpgsql as"
                + " $$ begin raise exception 'away' using errcode = 'too_many_connections'; end $$");
        database.execute(
                "create trigger refuse before update on trunkline.holder for each statement execute function refuse()");
        leaving.close();
        database.execute("drop trigger refuse on trunkline.holder");
        List<String> seen = new CopyOnWriteArrayList<>();
        group(open(), seen);
        publish(20);
        await(() -> seen.size() == 20);
        await(() -> database.number("select count(*) from trunkline.member") == 1);
    }

    /** The enemy: the next start lets go of what the last handler has, handles its key beside it, and is made to leave when that ends. */
    @Test
    void a_group_that_is_started_again_leaves_alone_what_a_handler_of_the_last_start_still_has() throws Exception {
        CountDownLatch running = new CountDownLatch(1);
        CompletableFuture<Void> release = new CompletableFuture<>();
        List<String> seen = new CopyOnWriteArrayList<>();
        Trunkline process = open();
        ConsumerGroup<String> last = process.createConsumerGroup("g", "t", String.class)
                .addConsumer("a", delivery -> {
                    running.countDown();
                    release.join(); // whoever interrupts it
                    seen.add("last " + delivery.payload());
                })
                .start(SubscriptionOptions.fromBeginning());
        publish(1);
        running.await();
        last.close(Duration.ZERO);
        String epochs = "select epoch, count(*) from trunkline.holder where session is not null group by 1 order by 1";
        ConsumerGroup<String> next = group(process, seen);
        Awaitility.await()
                .untilAsserted(() -> assertThat(database.query(epochs)).containsExactly("1|1", "2|3"));
        publish(20);
        await(() -> database.number("select sum(lag) from trunkline.lag('g', 't') where partition not in"
                        + " (select partition from trunkline.holder where epoch = 1)")
                == 0);
        long beat = database.number("select max(beat) from trunkline.session");
        await(() -> database.number("select max(beat) from trunkline.session") >= beat + 3);
        assertThat(database.query(epochs)).containsExactly("1|1", "2|3");
        assertThat(seen).doesNotContain("m0");

        release.complete(null);
        await(() -> database.query(epochs).equals(List.of("2|4")) && lag() == 0);
        assertThat(seen).hasSize(21).doesNotHaveDuplicates().contains("m0");
        assertThat(seen.indexOf("last m0")).isLessThan(seen.indexOf("m0"));
        assertThat(next.metrics().outOfOrder()).isZero();
        assertThat(database.number("select count(*) from trunkline.member")).isOne();
    }

    /** The enemy: nobody has heard that the group is served, and it dies. */
    @Test
    void a_member_that_was_forgotten_joins_again_and_its_group_lives() {
        group(open(), new CopyOnWriteArrayList<>());
        await(() -> database.number("select count(*) from trunkline.holder where epoch = 1") == 4);
        database.execute("update trunkline.subscription set status = 'DEAD'");
        database.execute("delete from trunkline.member");
        await(() -> database.number("select count(*) from trunkline.member") == 1);
        assertThat(database.query("select status from trunkline.subscription")).containsExactly("ACTIVE");
        assertThat(database.query("select epoch from trunkline.holder")).containsOnly("1");
    }

    @Test
    void partitions_that_were_taken_without_the_process_knowing_are_let_go_and_taken_again() {
        List<String> seen = new CopyOnWriteArrayList<>();
        group(open(), seen);
        await(() -> database.number("select count(*) from trunkline.holder where epoch = 1") == 4);
        // As if the answer to the take-over had been lost.
        database.query("select subscription from trunkline.subscribe('other', 't', 'BEGINNING')");
        database.execute(
                "update trunkline.holder set session = (select max(id) from trunkline.session), epoch = 1 where subscription = 2");
        processes
                .getLast()
                .createConsumerGroup("other", "t", String.class)
                .addConsumer("a", delivery -> seen.add("other " + delivery.payload()))
                .start(SubscriptionOptions.fromBeginning());
        publish(10);
        await(() -> seen.size() == 20);
        await(() -> database.number("select min(epoch) from trunkline.holder where subscription = 2") == 2);
    }

    private long lag() {
        return database.number("select sum(lag) from trunkline.lag('g', 't')");
    }

    private Trunkline open() {
        return open(Duration.ofSeconds(3));
    }

    private Trunkline open(Duration lease) {
        Trunkline trunkline =
                database.options().lease(lease).backgroundWork(false).open();
        processes.add(trunkline);
        return trunkline;
    }

    private static ConsumerGroup<String> group(Trunkline trunkline, List<String> seen) {
        return trunkline
                .createConsumerGroup("g", "t", String.class)
                .addConsumer("a", delivery -> seen.add(delivery.payload()))
                .start(SubscriptionOptions.fromBeginning());
    }

    private void publish(int count) {
        for (int i = 0; i < count; i++) {
            processes.getFirst().publisher().publish(Message.of("t", "m" + i).withKey("k" + i));
        }
    }

    private static void await(Callable<Boolean> condition) {
        Awaitility.await()
                .atMost(Duration.ofSeconds(60))
                .pollInterval(Duration.ofMillis(50))
                .until(condition);
    }
}
