package dev.trunkline.race;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.Message;
import dev.trunkline.Trunkline;
import dev.trunkline.testing.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Those who change a group at the same time see each other, and do not wait for each other for ever. */
@Timeout(300)
class GroupLocksTest {

    private final TestDatabase database = TestDatabase.fresh();
    private final ExecutorService others = Executors.newVirtualThreadPerTaskExecutor();
    private Trunkline trunkline;

    @BeforeEach
    void open() {
        trunkline = database.open();
        database.query("select trunkline.create_topic('t', 'PUB_SUB', unheard => 'REFUSE')");
        database.query("select trunkline.subscribe('g', 't', 'NOW')");
    }

    @AfterEach
    void close() {
        others.close();
        trunkline.close();
    }

    /** Begins something that has to wait. */
    private CompletableFuture<List<String>> begin(int waiting, String sql, Object... parameters) {
        CompletableFuture<List<String>> other =
                CompletableFuture.supplyAsync(() -> database.query(sql, parameters), others);
        Awaitility.await()
                .until(() -> database.number("select count(*) from pg_stat_activity where wait_event_type = 'Lock'"
                                + " and datname = current_database()")
                        == waiting);
        return other;
    }

    private void die() {
        database.query("select trunkline.watch_groups()");
        database.query("select trunkline.watch_groups(clock_timestamp() + interval '6 minutes')");
        assertThat(database.query("select status from trunkline.subscription")).containsExactly("DEAD");
    }

    @Test
    void a_topic_whose_last_group_dies_while_another_begins_stays_open() throws SQLException {
        // It is to wait for as long as it takes this test to commit.
        database.execute("alter function trunkline.watch_groups set lock_timeout = '1min'");
        try (Connection connection = database.connect()) {
            connection.setAutoCommit(false);
            TestDatabase.query(connection, "select trunkline.subscribe('new', 't', 'NOW')");
            CompletableFuture<List<String>> watch =
                    begin(1, "select trunkline.watch_groups(clock_timestamp() + interval '6 minutes')");
            connection.commit();
            watch.join();
        }
        assertThat(database.query("select group_name, status from trunkline.subscription order by 1"))
                .containsExactly("g|DEAD", "new|ACTIVE");
        assertThat(trunkline.publisher().publish(Message.of("t", "m")).id()).isPositive();
    }

    /** Processes of a dead group that come back at once. */
    @Test
    void who_joins_a_group_does_not_meet_who_subscribes_to_it() throws SQLException {
        die();
        meet("select trunkline.join_group(1, " + database.number("select trunkline.begin_session('s')") + ")");
        assertThat(database.query("select status from trunkline.subscription")).containsExactly("ACTIVE");
    }

    @Test
    void who_moves_a_group_does_not_meet_who_subscribes_to_it() throws SQLException {
        die();
        database.query("select trunkline.alter_topic('t', unheard => 'KEEP')");
        meet("select trunkline.seek('g', 't', 'BEGINNING')");
    }

    /** Processes of a group with a wildcard that start at once. */
    @Test
    void those_who_rejoin_a_dead_group_at_once_wait_for_each_other_in_turn() throws SQLException {
        die();
        database.query("select trunkline.alter_topic('t', unheard => 'KEEP')");
        try (Connection connection = database.connect()) {
            connection.setAutoCommit(false);
            TestDatabase.query(connection, "select from trunkline.subscription for key share");
            CompletableFuture<List<String>> one = begin(1, "select trunkline.rejoin('g', 't', null, null)");
            CompletableFuture<List<String>> other = begin(2, "select trunkline.rejoin('g', 't', null, null)");
            connection.commit();
            assertThat(one.join()).containsExactly("(1,f)");
            assertThat(other.join()).containsExactly("(1,f)");
        }
    }

    @Test
    void a_sweep_that_takes_long_keeps_no_process_from_beating() throws SQLException {
        long session = database.number("select trunkline.begin_session('s')");
        database.execute(
                "insert into trunkline.attempt (subscription, strand, \"offset\", attempts, history) values (1, 0, 0, 1, '{}')");
        database.execute(
                "update trunkline.subscription set status = 'CANCELLED', status_since = status_since - interval '2 days'");
        try (Connection connection = database.connect()) {
            connection.setAutoCommit(false);
            TestDatabase.query(connection, "select from trunkline.attempt for update");
            CompletableFuture<List<String>> sweep = begin(1, "select trunkline.sweep_groups()");
            try (Connection process = database.connect()) {
                TestDatabase.query(process, "set lock_timeout = '2s'");
                assertThat(TestDatabase.query(process, "select trunkline.beat(?)", session))
                        .containsExactly("t");
            }
            connection.commit();
            sweep.join();
        }
        assertThat(database.number("select count(*) from trunkline.attempt")).isZero();
    }

    @Test
    void a_sweep_deletes_much_in_several_goes_and_forgets_a_group_last() {
        database.execute(
                "insert into trunkline.group_event (subscription, what) select 1, 'x' from generate_series(1, 25000)");
        database.execute(
                "update trunkline.subscription set status = 'CANCELLED', status_since = status_since - interval '31 days'");
        for (long left : List.of(15_000L, 5_000L, 0L)) {
            assertThat(database.number("select count(*) from trunkline.subscription"))
                    .isOne();
            database.query("select trunkline.sweep_groups()");
            assertThat(database.number("select count(*) from trunkline.group_event"))
                    .isEqualTo(left);
        }
        assertThat(database.number("select count(*) from trunkline.subscription"))
                .isZero();
    }

    /** Somebody decides on dead letters, and takes his time to commit. */
    @Test
    void who_carries_out_what_was_decided_does_not_wait_for_who_is_deciding() throws SQLException {
        long session = database.number("select trunkline.begin_session('s')");
        database.query("select trunkline.join_group(1, ?)", session);
        database.query("select trunkline.take(?, 1, 100)", session);
        for (int offset : List.of(0, 1)) {
            database.query(
                    "insert into trunkline.dead_letter (subscription, strand, \"offset\", message_id, unit, unit_end, published_at, appended_at,"
                            + " content_type, payload, attempts, error, stack, history, stops_key, intent)"
                            + " values (1, 0, ?, 1, 1, true, now(), now(), 't', '', 1, '', '', '{}', false, 'REDRIVE')",
                    offset);
        }
        try (Connection connection = database.connect();
                Connection owner = database.connect()) {
            connection.setAutoCommit(false);
            TestDatabase.query(connection, "select trunkline.discard('g', 't', array[1::bigint])");
            TestDatabase.query(owner, "set lock_timeout = '2s'");
            assertThat(TestDatabase.query(owner, "select trunkline.carry_out(?, 1)", session))
                    .containsExactly("1");
            connection.commit();
            assertThat(TestDatabase.query(owner, "select trunkline.carry_out(?, 1)", session))
                    .containsExactly("1");
        }
        assertThat(database.query("select \"offset\" from trunkline.parked")).containsExactly("1");
    }

    /** Who subscribes to a dead group is held up at its holders, when the other begins. */
    private void meet(String sql) throws SQLException {
        try (Connection connection = database.connect()) {
            connection.setAutoCommit(false);
            TestDatabase.query(connection, "select from trunkline.holder for update");
            CompletableFuture<List<String>> subscribes = begin(1, "select trunkline.subscribe('g', 't', 'NOW')");
            CompletableFuture<List<String>> other = begin(2, sql);
            connection.commit();
            assertThat(subscribes.join()).hasSize(1);
            assertThat(other.join()).isNotEmpty();
        }
    }
}
