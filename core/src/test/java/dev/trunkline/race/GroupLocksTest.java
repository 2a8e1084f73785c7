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
