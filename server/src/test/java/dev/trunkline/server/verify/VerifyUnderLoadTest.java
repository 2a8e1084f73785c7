package dev.trunkline.server.verify;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.Message;
import dev.trunkline.PullOptions;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.server.Cli;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Verify finds nothing in a system that is at work: publishing, consuming, segments that come and go, progress that is folded. */
@Timeout(600)
class VerifyUnderLoadTest {

    private static final int LOOKS = 8;
    /** Segments come and go by size here, and not after hours. */
    private static final String HURRY =
            "update trunkline.segment set opened_at = opened_at - interval '8 days' where id < (select max(s.id) from trunkline.segment s)";

    private final String database = Cli.freshDatabase();
    private final AtomicBoolean over = new AtomicBoolean();

    private void until(Callable<?> step) throws Exception {
        while (!over.get()) {
            step.call();
        }
    }

    private Void execute(String... statements) throws SQLException {
        try (Connection connection = Cli.postgres().dataSource(database).getConnection();
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                try {
                    statement.execute(sql);
                } catch (SQLException e) {
                    if (!"55P03".equals(e.getSQLState())) { // somebody is just there: the next time
                        throw e;
                    }
                }
            }
        }
        return null;
    }

    private long ask(String sql) throws SQLException {
        try (Connection connection = Cli.postgres().dataSource(database).getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }

    @Test
    void a_system_at_work_gives_no_false_alarm() throws Exception {
        List<Future<?>> works = new ArrayList<>();
        try (Trunkline trunkline = Trunkline.open(
                        Cli.postgres().jdbcUrl(database),
                        Cli.postgres().user(),
                        Cli.postgres().password());
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            trunkline
                    .topics()
                    .create(TopicConfiguration.pubSub("orders")
                            .withPartitions(4)
                            .withSegments(8_192, Duration.ofHours(1)));
            var group = trunkline.createConsumerGroup("emails", "orders", String.class);
            group.addConsumer("all", delivery -> {});
            group.start(SubscriptionOptions.fromBeginning());
            var pull = trunkline.pull("bills", "orders", String.class, PullOptions.fromBeginning());
            Callable<Void> publish = () -> {
                until(() -> trunkline
                        .publisher()
                        .publish(Message.of("orders", "x".repeat(200))
                                .withKey("" + Thread.currentThread().threadId())));
                return null;
            };
            works.add(threads.submit(publish));
            works.add(threads.submit(publish));
            works.add(threads.submit(() -> {
                until(() -> execute(
                        "begin",
                        "select trunkline.publish('orders', 'in a transaction'::text)",
                        "select trunkline.publish('orders', 'repeated'::text, idempotency_key => 'same')",
                        "select trunkline.publish('orders', 'soon'::text, deliver_at => clock_timestamp() + interval '1 second')",
                        "commit"));
                return null;
            }));
            works.add(threads.submit(() -> {
                until(() -> {
                    pull.pop(100, Duration.ofMinutes(1)).ifPresent(batch -> pull.ack(batch.token()));
                    return null;
                });
                return null;
            }));
            works.add(threads.submit(() -> {
                until(() -> {
                    execute("select trunkline.roll_segment(t) from trunkline.topics_to_roll() t", HURRY);
                    execute("select trunkline.trim(t.id) from trunkline.topic t");
                    return execute("select trunkline.rotate_progress('0 seconds')");
                });
                return null;
            }));
            try {
                long dropped = 0;
                for (int look = 0; look < LOOKS || dropped == 0; look++) {
                    Cli.Result result = Cli.on(database, "verify");
                    assertThat(result.code()).as(result.out() + result.err()).isZero();
                    dropped = ask("select count(*) from trunkline.dropped_segment");
                    works.stream().filter(Future::isDone).forEach(Future::resultNow); // none has failed
                }
            } finally {
                over.set(true);
            }
            for (Future<?> work : works) {
                work.get();
            }
        }
        Cli.Result result = Cli.on(database, "verify");
        assertThat(result.code()).as(result.out() + result.err()).isZero();
    }
}
