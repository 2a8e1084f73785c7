package dev.trunkline.log;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.Observer;
import dev.trunkline.database.Database;
import dev.trunkline.rig.FaultProxy;
import dev.trunkline.testing.TestDatabase;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.postgresql.ds.PGSimpleDataSource;

@Timeout(120)
class DoorbellTest {

    private static final Duration OFTEN = Duration.ofMillis(200);
    private static final Duration RARELY = Duration.ofSeconds(2);

    private final TestDatabase database = TestDatabase.fresh();
    private final FaultProxy line = new FaultProxy(database.server().port());
    private final Bell here = new Bell();
    private final Bell there = new Bell();
    private final Doorbell rings = new Doorbell(database(), here, OFTEN, Observer.NONE);
    private final Doorbell hears = new Doorbell(database(), there, OFTEN, Observer.NONE);
    private final Queue<String> heard = new ConcurrentLinkedQueue<>();

    private Database database() {
        return database(line);
    }

    private Database database(FaultProxy line) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(line.jdbcUrl(database.name()));
        source.setUser(database.server().user());
        source.setPassword(database.server().password());
        return new Database(source, () -> {}, "trunkline");
    }

    @AfterEach
    void close() {
        rings.close();
        hears.close();
        line.close();
    }

    private void listen() {
        hears.startListening();
        Awaitility.await().until(() -> hears.pollInterval().equals(RARELY));
    }

    @Test
    void another_process_is_told_the_topic_and_no_other() {
        there.onRing("a", "a", () -> heard.add("a"));
        there.onRing("b", "b", () -> heard.add("b"));
        listen();
        heard.clear(); // it was told to look at everything when it began
        rings.ring("b");
        Awaitility.await().until(() -> !heard.isEmpty());
        rings.ring("ü\u2028 ä");
        Awaitility.await().until(() -> there.count("ü\u2028 ä") > 1);
        assertThat(heard).containsOnly("b");
    }

    /** They are held up until all are rung, so that they are told in two pieces at most, of which one is too long. */
    @Test
    void more_topics_than_a_notification_holds_are_any() {
        listen();
        try (FaultProxy other = new FaultProxy(database.server().port());
                Doorbell late = new Doorbell(database(other), new Bell(), OFTEN, Observer.NONE)) {
            long before = there.count("c");
            other.refuse(true);
            for (int i = 0; i < 300; i++) {
                late.ring("a topic with a long name, of which there are many: " + i);
            }
            other.refuse(false);
            Awaitility.await().until(() -> there.count("c") > before);
        }
    }

    @Test
    void what_could_not_be_told_is_told_later() {
        listen();
        try (FaultProxy other = new FaultProxy(database.server().port());
                Doorbell lost = new Doorbell(database(other), new Bell(), OFTEN, Observer.NONE)) {
            long before = there.count("a");
            other.trap("pg_notify", FaultProxy.Fate.REQUEST_CUT);
            lost.ring("a");
            Awaitility.await().until(() -> other.trapped() > 0);
            Awaitility.await().until(() -> there.count("a") > before);
        }
    }

    @Test
    void while_nothing_arrives_who_waits_looks_often() {
        listen();
        line.silence(true);
        Awaitility.await()
                .timeout(Duration.ofSeconds(60))
                .until(() -> hears.pollInterval().equals(OFTEN));
        line.silence(false);
        Awaitility.await()
                .timeout(Duration.ofSeconds(60))
                .until(() -> hears.pollInterval().equals(RARELY));
        line.refuse(true); // it stays as it is until somebody has looked
        line.cutNow();
        Awaitility.await().until(() -> hears.pollInterval().equals(OFTEN));
    }
}
