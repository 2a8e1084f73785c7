package dev.trunkline.behaviour;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.trunkline.DatabaseUnavailableException;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.TrunklineException;
import dev.trunkline.testing.Logs;
import dev.trunkline.testing.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is committed gets its place: whatever becomes of other topics, and whoever else is just appending. */
@Timeout(300)
class RelayingTest {

    private static final String RELAY_NOW = "call trunkline.relay_now()";

    private final TestDatabase database = TestDatabase.fresh();
    private Trunkline trunkline;

    @BeforeEach
    void open() {
        trunkline = database.open();
        trunkline.topics().create(TopicConfiguration.queue("bad").withPartitions(1));
        trunkline.topics().create(TopicConfiguration.queue("good").withPartitions(2));
    }

    @AfterEach
    void close() {
        trunkline.close();
    }

    private void poison() {
        database.execute(
                "do $$ declare f regprocedure; begin for f in select oid from pg_proc where proname = 'segment_1_relay' loop"
                        + " execute 'alter function ' || f || ' rename to spoilt'; end loop; end $$");
    }

    private void heal() {
        database.execute(
                "do $$ declare f regprocedure; begin for f in select oid from pg_proc where proname = 'spoilt' loop"
                        + " execute 'alter function ' || f || ' rename to segment_1_relay'; end loop; end $$");
    }

    private void publishToBoth() {
        database.query("select trunkline.publish('bad', 'x')");
        database.query("select trunkline.publish('good', 'x')");
    }

    @Test
    void a_topic_that_can_not_be_relayed_does_not_keep_the_others_from_it_in_sql() throws SQLException {
        poison();
        publishToBoth();
        assertThatThrownBy(() -> database.query(RELAY_NOW))
                .hasMessageContaining("topic \"bad\": function trunkline.segment_1_relay")
                .cause()
                .hasFieldOrPropertyWithValue("SQLState", "42883");
        assertThat(Logs.texts(trunkline, "good")).hasSize(1);
        publishToBoth();
        try (Connection connection = database.connect();
                Statement statement = connection.createStatement()) {
            statement.execute("call trunkline.run('300 milliseconds', '10 milliseconds')");
            int warnings = 0;
            for (SQLWarning next = statement.getWarnings(); next != null; next = next.getNextWarning()) {
                assertThat(next.getMessage()).startsWith("relay: topic \"bad\": function");
                warnings++;
            }
            assertThat(warnings).as("told once in five seconds").isOne();
        }
        assertThat(Logs.texts(trunkline, "good")).hasSize(2);
        heal();
        assertThat(database.query(RELAY_NOW)).containsExactly("2");
    }

    @Test
    void a_topic_that_can_not_be_relayed_does_not_keep_the_others_from_it_in_a_process() {
        poison();
        publishToBoth();
        assertThatThrownBy(() -> trunkline.relayNow())
                .isInstanceOf(TrunklineException.class)
                .hasMessageContaining("segment_1_relay");
        assertThat(Logs.texts(trunkline, "good")).hasSize(1);
        try (Trunkline running = database.options().open()) {
            for (int i = 2; i < 20; i++) {
                int expected = i;
                publishToBoth();
                Awaitility.await("soon, although the other one fails")
                        .pollInterval(Duration.ofMillis(20))
                        .atMost(Duration.ofSeconds(30))
                        .until(() -> Logs.texts(running, "good").size() == expected);
            }
            heal();
            Awaitility.await()
                    .atMost(Duration.ofSeconds(30))
                    .until(() -> Logs.texts(running, "bad").size() == 19);
        }
    }

    /** Somebody holds the lanes of a topic while it is relayed. */
    private CompletableFuture<Long> relayBehind(Connection holder, boolean java) throws SQLException {
        holder.setAutoCommit(false);
        TestDatabase.query(holder, "select from trunkline.lane where topic = 2 for no key update");
        database.query("select trunkline.publish('good', 'mine', key => k) from unnest(array['a', 'b', 'c', 'd']) k");
        return CompletableFuture.supplyAsync(() -> java ? trunkline.relayNow() : database.number(RELAY_NOW));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void what_is_committed_has_its_place_after_a_relay_whoever_was_appending(boolean java) throws Exception {
        // It is to wait for as long as it takes this test to look.
        database.execute("alter function trunkline.relay_waiting set lock_timeout = '1min'");
        try (Connection holder = database.connect()) {
            CompletableFuture<Long> relayed = relayBehind(holder, java);
            Awaitility.await()
                    .until(() -> relayed.isDone()
                            || database.number("select count(*) from pg_stat_activity"
                                            + " where datname = current_database() and wait_event_type = 'Lock'")
                                    > 0);
            assertThat(relayed).isNotDone();
            holder.rollback();
            assertThat(relayed.get()).isEqualTo(4);
        }
        assertThat(Logs.texts(trunkline, "good")).hasSize(4);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void who_appends_for_ever_is_not_waited_for_that_long_and_the_rest_is_relayed(boolean java) throws Exception {
        database.query("select trunkline.publish('bad', 'x')");
        try (Connection holder = database.connect()) {
            CompletableFuture<Long> relayed = relayBehind(holder, java);
            assertThatThrownBy(relayed::get)
                    .cause()
                    .isInstanceOf(java ? DatabaseUnavailableException.class : IllegalStateException.class)
                    .hasMessageContaining("somebody has been appending to lane 0 for more than 5s");
        }
        assertThat(Logs.texts(trunkline, "bad")).hasSize(1);
        assertThat(Logs.texts(trunkline, "good")).isEmpty();
    }
}
