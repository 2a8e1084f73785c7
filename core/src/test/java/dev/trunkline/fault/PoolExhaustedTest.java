package dev.trunkline.fault;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.trunkline.Message;
import dev.trunkline.RetryPolicy;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.rig.FaultProxy;
import dev.trunkline.testing.TestDatabase;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** F15: handlers hold all connections that they can get. */
@Tag("fault")
@Timeout(300)
class PoolExhaustedTest {

    private static final int POOL = 3;
    private static final int MESSAGES = 40;
    private static final RetryPolicy ONCE = new RetryPolicy(1, Duration.ZERO, Duration.ZERO);

    private final TestDatabase database = TestDatabase.fresh();
    private final CountDownLatch release = new CountDownLatch(1);
    /** Who started what, and at which epoch. */
    private final Queue<String> started = new ConcurrentLinkedQueue<>();

    @BeforeEach
    void create() {
        try (Trunkline trunkline = database.open()) {
            trunkline.topics().create(TopicConfiguration.pubSub("t").withPartitions(4));
        }
        database.execute("create table effect (id bigint generated always as identity, who text, text text)");
    }

    @AfterEach
    void releaseAll() {
        release.countDown();
    }

    @Test
    void beats_go_on_while_handlers_hold_all_of_our_connections() {
        try (Trunkline trunkline = options().poolSize(POOL).open()) {
            beatsGoOn(trunkline);
        }
    }

    @Test
    void beats_go_on_while_handlers_hold_what_they_can_get_of_the_applications_connections() {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(database.url());
        config.setUsername(database.server().user());
        config.setPassword(database.server().password());
        config.setMaximumPoolSize(POOL);
        try (HikariDataSource pool = new HikariDataSource(config)) {
            try (Trunkline trunkline = Trunkline.builder()
                    .dataSource(pool)
                    .poolSize(POOL)
                    .lease(Duration.ofSeconds(3))
                    .open()) {
                beatsGoOn(trunkline);
            }
            await(() -> pool.getHikariPoolMXBean().getActiveConnections() == 0);
        }
    }

    private void beatsGoOn(Trunkline trunkline) {
        List<String> groups = List.of("a", "b");
        groups.forEach(group -> consume(trunkline, group, SubscriptionOptions.fromBeginning()));
        publish(trunkline, MESSAGES);
        await(() -> !started.isEmpty());
        awaitBeats(6);
        assertThat(started).as("as many as there are connections for").hasSize(1);

        release.countDown();
        await(() -> count("effect") == 2 * MESSAGES);
        groups.forEach(group -> await(() -> lag(group) == 0));
        assertThat(database.query("select who, text from effect group by who, text having count(*) > 1"))
                .isEmpty();
        assertThat(database.number("select max(epoch) from trunkline.holder")).isOne();
        assertThat(database.number("select count(*) from trunkline.session")).isOne();
        assertThat(count("trunkline.attempt")).isZero();
        assertThat(count("trunkline.dead_letter")).isZero();
    }

    @Test
    void a_handler_that_waits_for_a_connection_has_not_started_and_does_not_fail() {
        try (Trunkline trunkline = options().poolSize(POOL).open()) {
            consume(trunkline, "a", SubscriptionOptions.fromBeginning());
            publish(trunkline, 1);
            await(() -> started.size() == 1);
            consume(
                    trunkline,
                    "b",
                    SubscriptionOptions.fromBeginning().withRetry(ONCE).withHandlerTimeout(Duration.ofSeconds(6)));
            await(() -> database.number("select count(*) from trunkline.holder where session is not null") == 8);
            // Longer than a handler may take.
            awaitBeats(8);
            assertThat(started).hasSize(1);
            release.countDown();
            await(() -> count("effect") == 2 || count("trunkline.dead_letter") > 0);
            assertThat(database.query("select group_name, error from trunkline.dead_letters"))
                    .isEmpty();
        }
    }

    @Test
    void a_handler_that_has_waited_for_a_connection_until_its_lease_was_over_does_not_start() {
        try (FaultProxy proxy = new FaultProxy(database.server().port());
                Trunkline silenced = options()
                        .directUrl(proxy.jdbcUrl(database.name()))
                        .poolSize(POOL)
                        .lease(Duration.ofSeconds(2))
                        .open();
                Trunkline other = options().lease(Duration.ofSeconds(2)).open()) {
            consume(silenced, "a", SubscriptionOptions.fromBeginning());
            await(() -> database.number("select count(*) from trunkline.holder where epoch = 1") == 4);
            publish(silenced, 2);
            await(() -> started.size() == 1);
            proxy.refuse(true);
            proxy.cutNow();
            consume(other, "a", SubscriptionOptions.fromBeginning());
            await(() -> database.number("select count(*) from trunkline.holder where epoch = 2") == 4);
            release.countDown();
            await(() -> count("effect") == 2);
            proxy.refuse(false);
            // It has begun anew: nothing of before is left of it.
            await(() -> database.number("select count(*) from trunkline.session where ended_at is null") == 2);
            await(() -> lag("a") == 0);
            assertThat(started.stream().filter(start -> start.endsWith("epoch 1")))
                    .as("%s", started)
                    .hasSize(1);
        }
    }

    private Trunkline.Builder options() {
        return database.options().lease(Duration.ofSeconds(3));
    }

    private void consume(Trunkline trunkline, String group, SubscriptionOptions options) {
        trunkline
                .createConsumerGroup(group, "t", String.class)
                .addTransactionalConsumer("a", (delivery, connection) -> {
                    started.add(group + " " + delivery.payload() + " in epoch " + delivery.epoch());
                    insert(connection, group, delivery.payload());
                    release.await();
                })
                .start(options);
    }

    private static void insert(Connection connection, String group, String text) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("insert into effect (who, text) values (?, ?)")) {
            insert.setString(1, group);
            insert.setString(2, text);
            insert.executeUpdate();
        }
    }

    private static void publish(Trunkline trunkline, int count) {
        trunkline
                .publisher()
                .publishAll(IntStream.range(0, count)
                        .mapToObj(i -> Message.of("t", "m" + i).withKey("k" + i))
                        .toList());
    }

    /** Waits until a session has given so many more signs of life. */
    private void awaitBeats(int more) {
        long now = database.number("select max(beat) from trunkline.session");
        await(() -> database.number("select max(beat) from trunkline.session") >= now + more);
    }

    private long count(String table) {
        return database.number("select count(*) from " + table);
    }

    private long lag(String group) {
        return database.number("select sum(lag) from trunkline.lag(?, 't')", group);
    }

    private static void await(Callable<Boolean> condition) {
        Awaitility.await()
                .atMost(Duration.ofSeconds(60))
                .pollInterval(Duration.ofMillis(50))
                .until(condition);
    }
}
