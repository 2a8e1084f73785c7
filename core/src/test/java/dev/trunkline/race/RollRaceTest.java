package dev.trunkline.race;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.Message;
import dev.trunkline.Priority;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.testing.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Several who open the next segment of a topic at the same moment: somebody's turn at upkeep may be over while he is still at it. */
@Timeout(300)
class RollRaceTest {

    private static final int THREADS = 4;
    private static final int ROUNDS = 60;
    private static final String LOCKED = "55P03";

    @Test
    void segments_follow_one_another_in_the_order_of_their_ids() throws Exception {
        TestDatabase database = TestDatabase.fresh();
        try (Trunkline trunkline = database.open();
                ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
            trunkline.topics().create(TopicConfiguration.queue("t").withPartitions(1));
            CyclicBarrier together = new CyclicBarrier(THREADS);
            Callable<Boolean> roll = () -> {
                together.await();
                return isRolled(database);
            };
            for (int round = 0; round < ROUNDS; round++) {
                List<Future<Boolean>> rolls = new ArrayList<>();
                for (int i = 0; i < THREADS; i++) {
                    rolls.add(threads.submit(roll));
                }
                trunkline.publisher().publish(Message.of("t", "" + round));
                for (Future<Boolean> each : rolls) {
                    each.get();
                }
                assertThat(
                                database.number(
                                        "select count(*) from trunkline.lane l where l.segment <> (select max(s.id) from trunkline.segment s)"))
                        .as("lanes that do not lead to the last segment, in round %d", round)
                        .isZero();
            }
            assertThat(trunkline.log().read("t", 0, Priority.NORMAL, 0, 2 * ROUNDS))
                    .hasSize(ROUNDS);
        }
    }

    private static boolean isRolled(TestDatabase database) throws SQLException {
        try (Connection connection = database.connect();
                Statement statement = connection.createStatement()) {
            return statement.execute("select trunkline.roll_segment(t.id) from trunkline.topic t");
        } catch (SQLException e) {
            if (LOCKED.equals(e.getSQLState())) {
                return false;
            }
            throw e;
        }
    }
}
