package dev.trunkline.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.RetryPolicy;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.Trunkline;
import java.sql.PreparedStatement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import org.awaitility.Awaitility;

/**
 * A {@link NumberedLoad} on the topic {@code t} and three groups in one process: two whose effects are in memory, where no fault of the
 * database reaches them, and one whose effects are transactions.
 */
public final class NumberedGroups implements AutoCloseable {

    private static final int KEYS = 10;
    /** So that a fault finds something under way. */
    private static final long WORK_MILLIS = 5;

    private static final List<String> PLAIN = List.of("plain-1", "plain-2");
    private static final RetryPolicy PATIENT = new RetryPolicy(10_000, Duration.ofMillis(5), Duration.ofMillis(50));

    private final Trunkline trunkline;
    private final TestDatabase database;
    private final long seed;
    private final Starts starts = new Starts();
    private final NumberedLoad load;

    public NumberedGroups(Trunkline trunkline, TestDatabase database, long seed) {
        this.trunkline = trunkline;
        this.database = database;
        this.seed = seed;
        this.load = new NumberedLoad(trunkline, "t", KEYS);
    }

    public NumberedGroups start() {
        database.execute("create table effect (id bigint generated always as identity, key text, number int)");
        SubscriptionOptions options = SubscriptionOptions.fromBeginning().withRetry(PATIENT);
        for (String group : PLAIN) {
            trunkline
                    .createConsumerGroup(group, "t", String.class)
                    .addConsumer("a", delivery -> {
                        starts.add("here", delivery);
                        Thread.sleep(WORK_MILLIS);
                    })
                    .start(options);
        }
        trunkline
                .createConsumerGroup("transactional", "t", String.class)
                .addTransactionalConsumer("a", (delivery, connection) -> {
                    try (PreparedStatement insert = connection.prepareStatement(
                            "with work as materialized (select pg_sleep(?)) insert into effect (key, number) select ?, ?::int from work")) {
                        insert.setDouble(1, WORK_MILLIS / 1e3);
                        insert.setString(2, delivery.key());
                        insert.setString(3, delivery.payload());
                        insert.executeUpdate();
                    }
                })
                .start(options);
        load.start();
        return this;
    }

    /** Waits until every group has handled so many more messages. */
    public void awaitMore(int messages) {
        List<Long> before = PLAIN.stream().map(starts::count).toList();
        long effects = effects();
        await(() -> {
            for (int i = 0; i < PLAIN.size(); i++) {
                if (starts.count(PLAIN.get(i)) < before.get(i) + messages) {
                    return false;
                }
            }
            return effects() >= effects + messages;
        });
    }

    private long effects() {
        return database.number("select count(*) from effect");
    }

    /** Lets everything be handled and holds it against the promises. */
    public void verify() {
        load.stop();
        for (String group : PLAIN) {
            await(() -> starts.count(group) == load.count() && lag(group) == 0);
            assertThat(starts.violations(group, load.acknowledged()))
                    .as("seed %d", seed)
                    .isEmpty();
        }
        await(() -> lag("transactional") == 0);
        // Once each, and each key in order.
        assertThat(database.query(
                        "select key, number from (select key, number, row_number() over (partition by key order by id) - 1 as place"
                                + " from effect) e where number <> place"))
                .as("effects out of place, seed %d", seed)
                .isEmpty();
        assertThat(effects()).as("seed %d", seed).isEqualTo(load.count());
        for (String table : List.of("parked", "blocked")) {
            await(() -> database.number("select count(*) from trunkline." + table) == 0);
        }
        assertThat(database.number("select count(*) from trunkline.dead_letter"))
                .as("dead letters, seed %d", seed)
                .isZero();
    }

    private long lag(String group) {
        return database.number("select sum(lag) from trunkline.lag(?, 't')", group);
    }

    private void await(Callable<Boolean> condition) {
        Awaitility.await("work flows again, seed " + seed)
                .atMost(Duration.ofSeconds(60))
                .pollInterval(Duration.ofMillis(50))
                .until(condition);
    }

    @Override
    public void close() {
        load.stop();
    }
}
