package dev.trunkline.fault;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.ConsumerGroup;
import dev.trunkline.Message;
import dev.trunkline.RetryPolicy;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.testing.Seed;
import dev.trunkline.testing.TestDatabase;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.postgresql.ds.PGSimpleDataSource;

/** P9: effect and progress in one transaction are one effect, whatever breaks. */
@Tag("fault")
@Timeout(300)
class OneEffectTest {

    private static final RetryPolicy PATIENT = new RetryPolicy(1_000, Duration.ofMillis(5), Duration.ofMillis(50));

    private final TestDatabase database = TestDatabase.fresh();
    private Trunkline trunkline;

    @BeforeEach
    void open() {
        trunkline = database.options().lease(Duration.ofSeconds(3)).open();
        trunkline.topics().create(TopicConfiguration.pubSub("t").withPartitions(8));
        database.execute("create table effect (id bigint generated always as identity, key text, text text)");
    }

    @AfterEach
    void close() {
        trunkline.close();
    }

    @Test
    void handlers_that_throw_and_backends_that_are_killed_leave_one_effect_of_each_message_in_order() {
        long seed = Seed.next();
        Random random = new Random(seed);
        start(text -> {
            if (ThreadLocalRandom.current().nextInt(10) == 0) {
                throw new IllegalStateException("a bad moment");
            }
        });
        int messages = 0;
        for (int round = 0; round < 40; round++) {
            List<Message> batch = new ArrayList<>();
            for (int i = 0; i < 25; i++) {
                String text = "m%05d".formatted(messages);
                batch.add(Message.of("t", text).withKey("k" + messages % 20).withIdempotencyKey(text));
                messages++;
            }
            publish(batch);
            int seen = random.nextInt(3);
            database.query("""
                    select pg_terminate_backend(pid) from pg_stat_activity
                    where datname = current_database() and pid <> pg_backend_pid()
                      and (query like '%effect%' or query like '%fence%' or query = 'COMMIT') order by random() limit ?""", seen);
        }
        int expected = messages;
        await(() -> database.number("select count(distinct text) from effect") == expected);
        await(() -> database.number("select sum(lag) from trunkline.lag('g', 't')") == 0);
        assertThat(database.query("select text from effect group by text having count(*) > 1"))
                .as("done twice, seed %d", seed)
                .isEmpty();
        assertThat(
                        database.query(
                                "select text from (select text, lag(text) over (partition by key order by id) as before from effect) e where before > text"))
                .as("out of order, seed %d", seed)
                .isEmpty();
        assertThat(database.number("select count(*) from trunkline.dead_letter"))
                .isZero();
    }

    @Test
    void who_lost_the_partition_has_no_effect() {
        AtomicInteger tries = new AtomicInteger();
        AtomicLong effectsOfTheFirst = new AtomicLong(-1);
        start(text -> {
            switch (tries.incrementAndGet()) {
                case 1 -> database.execute("update trunkline.holder set epoch = epoch + 1");
                // By whoever has taken it since; what this one does is not committed yet.
                case 2 -> effectsOfTheFirst.set(database.number("select count(*) from effect"));
                default -> {}
            }
        });
        publish(List.of(Message.of("t", "m").withKey("k")));
        await(() -> tries.get() >= 2 && database.number("select sum(lag) from trunkline.lag('g', 't')") == 0);
        assertThat(effectsOfTheFirst).hasValue(0);
        assertThat(database.number("select count(*) from effect")).isOne();
    }

    @Test
    void a_handler_that_ends_the_transaction_is_found_out() {
        trunkline
                .createConsumerGroup("g", "t", String.class)
                .addTransactionalConsumer("a", (delivery, connection) -> connection.commit())
                .start(SubscriptionOptions.fromBeginning().withRetry(new RetryPolicy(1, Duration.ZERO, Duration.ZERO)));
        publish(List.of(Message.of("t", "m").withKey("k")));
        await(() ->
                database.number("select count(*) from trunkline.dead_letter where error like '%ended the transaction%'")
                        == 1);
    }

    /** Connections that are lost as soon as something was committed in a transaction. */
    private static final class Source extends PGSimpleDataSource {
        private static final long serialVersionUID = 1L;

        @Override
        public Connection getConnection() throws SQLException {
            Connection connection = super.getConnection();
            AtomicBoolean committed = new AtomicBoolean();
            return (Connection) Proxy.newProxyInstance(
                    Source.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                        if (method.getName().equals("close") && committed.get()) {
                            connection.close();
                            throw new SQLException("made up", "08006");
                        }
                        try {
                            return method.invoke(connection, arguments);
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        } finally {
                            committed.compareAndSet(false, method.getName().equals("commit"));
                        }
                    });
        }
    }

    /** The enemy: the transaction is there, its connection fails when it is given back, and the message is taken for one that has failed. */
    @Test
    void what_was_committed_happens_once_though_its_connection_is_lost_after_that() {
        Source source = new Source();
        source.setUrl(database.url());
        source.setUser(database.server().user());
        source.setPassword(database.server().password());
        trunkline.close();
        trunkline = Trunkline.open(source);
        start(text -> {});
        publish(List.of(Message.of("t", "m").withKey("k"), Message.of("t", "n").withKey("k")));
        await(() -> database.number("select count(*) from effect where text = 'n'") > 0);
        trunkline.close();
        assertThat(database.query("select text from effect order by id")).containsExactly("m", "n");
        assertThat(database.number("select count(*) from trunkline.attempt")).isZero();
    }

    private interface Trouble {
        void maybe(String text) throws Exception;
    }

    private ConsumerGroup<String> start(Trouble trouble) {
        return trunkline
                .createConsumerGroup("g", "t", String.class)
                .addTransactionalConsumer("a", (delivery, connection) -> {
                    try (PreparedStatement insert =
                            connection.prepareStatement("insert into effect (key, text) values (?, ?)")) {
                        insert.setString(1, delivery.key());
                        insert.setString(2, delivery.payload());
                        insert.execute();
                    }
                    trouble.maybe(delivery.payload());
                })
                .start(SubscriptionOptions.fromBeginning().withRetry(PATIENT).withConcurrency(4));
    }

    private void publish(List<Message> batch) {
        trunkline.publisher().publishAll(batch);
    }

    private static void await(Callable<Boolean> condition) {
        Awaitility.await()
                .atMost(Duration.ofSeconds(60))
                .pollInterval(Duration.ofMillis(100))
                .until(condition);
    }
}
