package dev.trunkline.fault;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.ConsumerGroup;
import dev.trunkline.Keeping;
import dev.trunkline.Message;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.TopicPattern;
import dev.trunkline.Trunkline;
import dev.trunkline.embedded.EmbeddedPostgres;
import dev.trunkline.embedded.Shutdown;
import dev.trunkline.testing.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * F21: the server crashes while a segment is dropped, a topic changes its mode, groups are swept, called back, moved, or made by a wildcard: before
 * the end nothing of it has happened, after it all of it has, and it can be done again.
 */
@Tag("fault")
@Timeout(300)
class UpkeepCrashTest {

    private static final List<String> STEPS = List.of(
            "select trunkline.rotate_progress(interval '0', clock_timestamp() + interval '1 hour')",
            "select trunkline.alter_topic('t', tracking => 'REFERENCE_COUNTING')",
            "select trunkline.rotate_progress(interval '0', clock_timestamp() + interval '2 hours')",
            "select trunkline.watch_groups(clock_timestamp() + interval '3 hours')",
            "select trunkline.trim(1, clock_timestamp() + interval '20 days')",
            "select trunkline.resurrect('dead', 't', true, 7)",
            "select trunkline.hold_catch_up('dead', 't', true)",
            "select trunkline.seek('live', 't', 'BEGINNING', a_force => true)",
            "select trunkline.alter_topic('t', tracking => 'OFFSET_WATERMARK')",
            "select trunkline.sweep_groups(clock_timestamp() + interval '40 days')",
            "select trunkline.create_topic('found', 'PUB_SUB', namespace => 'shop')",
            "select trunkline.cancel_wildcard('audit', 'shop')",
            "select trunkline.drop_topic('found')");

    /** All that a step may change, but for times. */
    private static final String STATE = """
            select 'group ' || concat_ws(' ', s.group_name, t.name, s.status, s.catch_up_cancelled, s.released_at is null)
            from trunkline.subscription s left join trunkline.topic t on t.id = s.topic
            union all
            select 'done ' || concat_ws(' ', s.group_name, t.name, d.strand, d.done)
            from trunkline.subscription s join trunkline.topic t on t.id = s.topic
            cross join lateral trunkline.done(s.id, array(select generate_series(0, t.partitions - 1))) d
            union all
            select 'holder ' || concat_ws(' ', s.group_name, s.topic = 1, h.partition, h.epoch, h.base, h.history_to)
            from trunkline.holder h join trunkline.subscription s on s.id = h.subscription
            union all
            select 'gap ' || concat_ws(' ', g.subscription, g.strand, g."from", g."to", g.reason) from trunkline.gap g
            union all
            select 'segment ' || concat_ws(' ', t.name, s.bases, to_regclass('trunkline.segment_' || s.id) is not null)
            from trunkline.segment s join trunkline.topic t on t.id = s.topic
            union all
            select 'tables ' || count(*) from pg_class c where c.relname ~ '^segment_[0-9]+$' and c.relkind = 'r'
            union all
            select 'functions ' || count(*) from pg_proc p where p.proname ~ '^segment_[0-9]+_'
            union all
            select 'trail ' || concat_ws(' ', r.subscription, r.strand, r.outcome, r.offsets) from trunkline.trail r
            union all
            select 'progress ' || count(*) from trunkline.progress
            union all
            select 'topic ' || concat_ws(' ', t.name, t.tracking) from trunkline.topic t
            union all
            select 'wildcard ' || w.group_name from trunkline.wildcard w
            order by 1
            """;

    private final Set<String> handled = new ConcurrentSkipListSet<>();

    @Test
    void each_step_happens_whole_or_not_at_all() throws SQLException {
        try (EmbeddedPostgres server = EmbeddedPostgres.temporary().start()) {
            TestDatabase database = TestDatabase.on(server);
            Set<String> published = prepare(database);
            List<String> changed = new ArrayList<>();
            for (String step : STEPS) {
                List<String> before = database.query(STATE);
                List<String> after;
                try (Connection connection = database.connect()) {
                    connection.setAutoCommit(false);
                    TestDatabase.query(connection, step);
                    after = TestDatabase.query(connection, STATE);
                    server.restart(Shutdown.IMMEDIATE);
                } catch (SQLException e) {
                    throw new AssertionError(step, e);
                }
                assertThat(database.query(STATE)).as("after a crash in " + step).isEqualTo(before);
                database.query(step);
                server.restart(Shutdown.IMMEDIATE);
                assertThat(database.query(STATE))
                        .as("after a crash after " + step)
                        .isEqualTo(after);
                if (!after.equals(before)) {
                    changed.add(step);
                }
            }
            assertThat(changed).as("steps that did something").isEqualTo(STEPS);
            goOn(database, published);
        }
    }

    private Set<String> prepare(TestDatabase database) {
        Set<String> published = new TreeSet<>();
        try (Trunkline trunkline = database.open()) {
            trunkline
                    .topics()
                    .create(TopicConfiguration.pubSub("t")
                            .withPartitions(2)
                            .withKeeping(Keeping.standard().withZombieTtl(Duration.ofDays(60))));
            start(trunkline, "dead").close();
            start(trunkline, "cancelled").cancel();
            trunkline
                    .createConsumerGroup("audit", TopicPattern.namespace("shop"), String.class, each -> {})
                    .start(SubscriptionOptions.fromNow())
                    .close();
            for (int segment = 0; segment < 2; segment++) {
                int from = 50 * segment;
                trunkline
                        .publisher()
                        .publishAll(IntStream.range(from, from + 50)
                                .mapToObj(n -> Message.of("t", "m" + n).withKey("k" + n % 7))
                                .toList());
                IntStream.range(from, from + 50).forEach(n -> published.add("m" + n));
                try (ConsumerGroup<String> live = start(trunkline, "live")) {
                    Awaitility.await()
                            .until(() -> handled.containsAll(published)
                                    && live.metrics().handled() >= 50);
                    assertThat(live.metrics().handled()).isEqualTo(50);
                }
                database.query("select trunkline.roll_segment(1)");
            }
            // It is alive: what it has not done would be kept.
            database.query("update trunkline.subscription set dead_after = '100 days' where group_name = 'live'");
            database.query("select trunkline.watch_groups(clock_timestamp())");
        }
        return published;
    }

    private ConsumerGroup<String> start(Trunkline trunkline, String group) {
        return trunkline
                .createConsumerGroup(group, "t", String.class)
                .addConsumer("c", delivery -> {
                    if (group.equals("live")) {
                        handled.add(delivery.payload());
                    }
                })
                .start(SubscriptionOptions.fromBeginning());
    }

    /** What was set back is handled again, as far as it is still there, and what is new is too. */
    private void goOn(TestDatabase database, Set<String> published) {
        handled.clear();
        try (Trunkline trunkline = database.open()) {
            trunkline.publisher().publish(Message.of("t", "new").withKey("k1"));
            try (ConsumerGroup<String> live = start(trunkline, "live")) {
                Awaitility.await()
                        .until(() ->
                                handled.contains("new") && live.metrics().lag().equals(Map.of(0, 0L, 1, 0L)));
            }
            assertThat(handled).hasSize(51);
            assertThat(published)
                    .containsAll(handled.stream().filter(m -> !m.equals("new")).toList());
        }
    }
}
