package dev.trunkline.race;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.testing.TestDatabase;
import java.sql.Connection;
import java.sql.Statement;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Somebody reads a topic, one segment after the other, while another drops it. */
@Timeout(120)
class DropRaceTest {

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void a_topic_is_dropped_when_it_is_read_in_whatever_order(int first) throws Exception {
        TestDatabase database = TestDatabase.fresh();
        try (Trunkline trunkline = database.open();
                Connection reader = database.connect();
                Statement reading = reader.createStatement();
                ExecutorService dropper = Executors.newSingleThreadExecutor()) {
            // It is to wait for as long as it takes this test to read on.
            database.execute("alter function trunkline.drop_topic set lock_timeout = '1min'");
            trunkline.topics().create(TopicConfiguration.queue("t").withPartitions(1));
            reading.execute("select trunkline.roll_segment(t.id) from trunkline.topic t");
            reader.setAutoCommit(false);
            reading.execute("select count(*) from trunkline.segment_" + first);
            Future<?> drop = dropper.submit(() -> trunkline.topics().drop("t"));
            await().until(() ->
                    database.number("select count(*) from pg_locks where not granted and mode = 'AccessExclusiveLock'")
                            > 0);
            reading.execute("select count(*) from trunkline.segment_" + (3 - first));
            reader.commit();
            drop.get();
            assertThat(database.number("select count(*) from trunkline.segment"))
                    .isZero();
        }
    }
}
