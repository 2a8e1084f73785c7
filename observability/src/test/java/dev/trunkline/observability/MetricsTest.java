package dev.trunkline.observability;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.trunkline.ConsumerGroup;
import dev.trunkline.ConsumerGroupAdmin.Figure;
import dev.trunkline.ConsumerGroupAdmin.GroupState;
import dev.trunkline.ConsumerGroupAdmin.Health;
import dev.trunkline.Handler;
import dev.trunkline.Message;
import dev.trunkline.PullOptions;
import dev.trunkline.RetryPolicy;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.UnknownTopicException;
import dev.trunkline.rig.FaultProxy;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.lang.Thread.State;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is told is what is so, and is told also when the database is away. */
@Timeout(180)
class MetricsTest {

    private final Place place = Place.fresh();
    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final TrunklineMetrics metrics = new TrunklineMetrics(registry);

    private Trunkline open() {
        return place.options().observer(metrics).open();
    }

    /** The lines of a scrape, of one metric, without what changes all the time. */
    private List<String> scrape(String name) {
        metrics.refresh();
        return registry.scrape()
                .lines()
                .filter(line -> line.startsWith(name + " ") || line.startsWith(name + "{"))
                .toList();
    }

    private void await(String name, String line) {
        Awaitility.await()
                .atMost(Duration.ofMinutes(1))
                .until(() -> scrape(name).contains(line));
    }

    private static double value(Trunkline trunkline, String name, String topic, String group) {
        return trunkline.admin().figures().stream()
                .filter(figure -> figure.name().equals(name)
                        && figure.topic().equals(topic)
                        && figure.group().equals(group))
                .map(Figure::value)
                .findFirst()
                .orElseThrow();
    }

    @Test
    void what_a_process_does_is_counted() throws Exception {
        try (Trunkline trunkline = open()) {
            trunkline.topics().create(TopicConfiguration.pubSub("t").withPartitions(2));
            trunkline.publisher().publishAll(List.of(Message.of("t", "good"), Message.of("t", "bad")));
            try (Connection connection =
                    Place.postgres().dataSource(place.database()).getConnection()) {
                trunkline.publisher().publish(connection, Message.of("t", "good"));
            }
            trunkline
                    .createConsumerGroup("g", "t", String.class)
                    .addConsumer("a", delivery -> {
                        if (delivery.payload().equals("bad")) {
                            throw new IllegalStateException("always");
                        }
                    })
                    .start(SubscriptionOptions.fromBeginning()
                            .withRetry(new RetryPolicy(2, Duration.ofMillis(1), Duration.ofMillis(1))));
            await("trunkline_handled_messages_total", "trunkline_handled_messages_total{group=\"g\",topic=\"t\"} 2.0");
            await(
                    "trunkline_dead_lettered_messages_total",
                    "trunkline_dead_lettered_messages_total{group=\"g\",topic=\"t\"} 1.0");
            await("trunkline_notifications_arriving", "trunkline_notifications_arriving 1.0");
            Awaitility.await()
                    .atMost(Duration.ofMinutes(1))
                    .until(() -> scrape("trunkline_upkeep_seconds_count").stream()
                            .anyMatch(line -> line.startsWith("trunkline_upkeep_seconds_count{outcome=\"done\"}")));
            assertThat(scrape("trunkline_published_messages_total"))
                    .containsExactly("trunkline_published_messages_total{topic=\"t\"} 3.0");
            assertThat(scrape("trunkline_relayed_messages_total"))
                    .containsExactly("trunkline_relayed_messages_total{topic=\"t\"} 1.0");
            assertThat(scrape("trunkline_failed_attempts_total"))
                    .containsExactly("trunkline_failed_attempts_total{group=\"g\",topic=\"t\"} 2.0");
            assertThat(scrape("trunkline_handler_seconds_count"))
                    .containsExactlyInAnyOrder(
                            "trunkline_handler_seconds_count{group=\"g\",outcome=\"done\",topic=\"t\"} 2",
                            "trunkline_handler_seconds_count{group=\"g\",outcome=\"failed\",topic=\"t\"} 2");
            assertThat(scrape("trunkline_out_of_order_messages_total"))
                    .containsExactly("trunkline_out_of_order_messages_total{group=\"g\",topic=\"t\"} 0.0");
            assertThat(scrape("trunkline_partitions_held"))
                    .containsExactly("trunkline_partitions_held{group=\"g\",topic=\"t\"} 2.0");
        }
        assertThat(registry.scrape()).contains("trunkline_partitions_held{group=\"g\",topic=\"t\"} 0.0");
    }

    private ConsumerGroup<String> start(Trunkline trunkline, Handler<String> handler) {
        return trunkline
                .createConsumerGroup("g", "t", String.class)
                .addConsumer("a", handler)
                .start(SubscriptionOptions.fromBeginning());
    }

    @Test
    void a_group_that_is_started_again_is_told_of_as_it_is_now() {
        try (Trunkline trunkline = open()) {
            trunkline.topics().create(TopicConfiguration.pubSub("t").withPartitions(2));
            for (int i = 0; i < 20; i++) {
                trunkline.publisher().publish(Message.of("t", "m" + i));
            }
            var ill = start(trunkline, delivery -> {
                throw new IllegalStateException("always");
            });
            await("trunkline_partitions_held", "trunkline_partitions_held{group=\"g\",topic=\"t\"} 2.0");
            await("trunkline_handler_failing", "trunkline_handler_failing{group=\"g\",topic=\"t\"} 1.0");
            ill.close();
            assertThat(scrape("trunkline_partitions_held"))
                    .containsExactly("trunkline_partitions_held{group=\"g\",topic=\"t\"} 0.0");
            assertThat(scrape("trunkline_handler_failing"))
                    .containsExactly("trunkline_handler_failing{group=\"g\",topic=\"t\"} 0.0");
            start(trunkline, delivery -> {});
            await("trunkline_partitions_held", "trunkline_partitions_held{group=\"g\",topic=\"t\"} 2.0");
            await("trunkline_handled_messages_total", "trunkline_handled_messages_total{group=\"g\",topic=\"t\"} 20.0");
            assertThat(scrape("trunkline_handler_failing"))
                    .containsExactly("trunkline_handler_failing{group=\"g\",topic=\"t\"} 0.0");
        }
    }

    @Test
    void topics_that_are_not_there_make_one_curve() {
        try (Trunkline trunkline = open()) {
            for (int i = 0; i < 3; i++) {
                Message message = Message.of("made up " + i, "x");
                assertThatThrownBy(() -> trunkline.publisher().publish(message))
                        .isInstanceOf(UnknownTopicException.class);
            }
            assertThat(scrape("trunkline_publish_seconds_count"))
                    .containsExactly("trunkline_publish_seconds_count{outcome=\"failed\",topic=\"unknown\"} 3");
        }
    }

    @Test
    void how_the_installation_is_is_what_the_views_say() throws Exception {
        try (Trunkline trunkline = place.options().backgroundWork(false).open();
                Connection held = Place.postgres().dataSource(place.database()).getConnection()) {
            trunkline.topics().create(TopicConfiguration.pubSub("t").withPartitions(4));
            trunkline.topics().create(TopicConfiguration.queue("q").withPartitions(1));
            for (int i = 0; i < 50; i++) {
                trunkline.publisher().publish(Message.of("t", "m" + i).withKey("k" + i));
            }
            held.setAutoCommit(false);
            trunkline.publisher().publish(held, Message.of("q", "not yet committed"));
            var done = trunkline.pull("some", "t", String.class, PullOptions.fromBeginning());
            done.ack(done.pop(20, Duration.ofSeconds(30)).orElseThrow().token());
            trunkline.pull("none", "t", String.class, PullOptions.fromNow());
            trunkline.pull("shared", "q", String.class, PullOptions.fromBeginning());

            for (GroupState group : trunkline.admin().groups()) {
                assertThat(value(trunkline, "group_lag_messages", group.topic(), group.name()))
                        .as(group.toString())
                        .isEqualTo((double) group.pending());
                assertThat(value(trunkline, "group_health", group.topic(), group.name()))
                        .isEqualTo(List.of(Health.values()).indexOf(group.health()));
            }
            assertThat(value(trunkline, "group_lag_messages", "t", "some"))
                    .isPositive()
                    .isLessThan(50);
            assertThat(value(trunkline, "group_lag_seconds", "t", "some")).isPositive();
            assertThat(value(trunkline, "group_lag_seconds", "t", "none")).isZero();
            assertThat(value(trunkline, "outbox_messages", "", "")).isZero();
            assertThat(value(trunkline, "oldest_transaction_seconds", "", "")).isPositive();
            held.commit();
            assertThat(value(trunkline, "outbox_messages", "", "")).isOne();
            assertThat(value(trunkline, "outbox_age_seconds", "", "")).isPositive();
            assertThat(value(trunkline, "oldest_transaction_seconds", "", "")).isZero();
            trunkline.relayNow();
            assertThat(value(trunkline, "outbox_messages", "", "")).isZero();
            assertThat(value(trunkline, "group_lag_messages", "q", "shared")).isOne();
            trunkline.admin().topics().forEach(topic -> {
                assertThat(value(trunkline, "topic_segments", topic.topic(), ""))
                        .isEqualTo(topic.segments());
                assertThat(value(trunkline, "topic_bytes", topic.topic(), "")).isEqualTo((double) topic.bytes());
            });
            assertThat(trunkline.admin().figures())
                    .extracting(Figure::name)
                    .containsOnlyOnceElementsOf(List.of("sessions", "outbox_messages"))
                    .allMatch(InstallationGauges.DESCRIPTIONS::containsKey)
                    .containsAll(InstallationGauges.DESCRIPTIONS.keySet());
        }
    }

    @Test
    void whoever_asks_how_far_behind_a_group_is_hears_the_same() throws Exception {
        try (Trunkline trunkline = place.options().backgroundWork(false).open();
                Connection connection =
                        Place.postgres().dataSource(place.database()).getConnection();
                var statement = connection.createStatement()) {
            trunkline.topics().create(TopicConfiguration.pubSub("t").withPartitions(1));
            var group = trunkline.pull("g", "t", String.class, PullOptions.fromBeginning());
            trunkline.publisher().publish(Message.of("t", "bad").withKey("k"));
            group.reject(group.pop(1, Duration.ofMinutes(1)).orElseThrow().token(), List.of(0L), "no");
            trunkline.publisher().publish(Message.of("t", "behind it").withKey("k"));
            trunkline.publisher().publish(Message.of("t", "free").withKey("f"));
            group.ack(group.pop(9, Duration.ofMinutes(1)).orElseThrow().token());
            for (int i = 0; i < 3; i++) {
                trunkline.publisher().publish(Message.of("t", "pending").withKey("p"));
            }
            statement.execute("update trunkline.parked set appended_at = appended_at - interval '1 hour'");

            assertThat(trunkline.admin().lag("g", "t")).singleElement().satisfies(lag -> {
                assertThat(lag.pending()).isEqualTo(3);
                assertThat(lag.parked()).isOne();
                assertThat(lag.age().orElseThrow()).isGreaterThan(Duration.ofMinutes(59));
            });
            GroupState state = trunkline.admin().find("g", "t").orElseThrow();
            assertThat(state.pending()).isEqualTo(3);
            assertThat(state.parked()).isOne();
            assertThat(value(trunkline, "group_lag_messages", "t", "g")).isEqualTo(3);
            assertThat(value(trunkline, "group_parked_messages", "t", "g")).isOne();
            assertThat(value(trunkline, "group_lag_seconds", "t", "g")).isGreaterThan(59 * 60);
        }
    }

    @Test
    void delayed_messages_that_are_due_and_not_relayed_are_seen() throws Exception {
        try (Trunkline trunkline = place.options().backgroundWork(false).open();
                Connection connection =
                        Place.postgres().dataSource(place.database()).getConnection();
                var statement = connection.createStatement()) {
            trunkline.topics().create(TopicConfiguration.queue("q").withPartitions(1));
            trunkline.publisher().publish(Message.of("q", "later").withDelay(Duration.ofHours(1)));
            trunkline.relayNow();
            assertThat(value(trunkline, "outbox_messages", "", "")).isZero();
            statement.execute("update trunkline.delayed set due_at = clock_timestamp()");
            assertThat(value(trunkline, "outbox_messages", "", "")).isOne();
            assertThat(value(trunkline, "outbox_age_seconds", "", "")).isPositive();
            try (var row = statement.executeQuery("select topic, messages from trunkline.backlog")) {
                assertThat(row.next()).isTrue();
                assertThat(row.getString(1)).isEqualTo("q");
                assertThat(row.getLong(2)).isOne();
            }
            trunkline.relayNow();
            assertThat(value(trunkline, "outbox_messages", "", "")).isZero();
        }
    }

    @Test
    void batches_that_are_pulled_are_counted_and_those_whose_lease_is_over() {
        try (Trunkline trunkline = place.options().backgroundWork(false).open()) {
            trunkline.topics().create(TopicConfiguration.pubSub("t").withPartitions(1));
            var group = trunkline.pull("g", "t", String.class, PullOptions.fromBeginning());
            trunkline.publisher().publish(Message.of("t", "m"));
            assertThat(value(trunkline, "group_open_batches", "t", "g")).isZero();
            assertThat(group.pop(1, Duration.ofNanos(1_000))).isPresent();
            assertThat(value(trunkline, "group_open_batches", "t", "g")).isOne();
            assertThat(value(trunkline, "group_expired_batches", "t", "g")).isOne();
            String token = group.pop(1, Duration.ofMinutes(10)).orElseThrow().token();
            assertThat(value(trunkline, "group_open_batches", "t", "g")).isOne();
            assertThat(value(trunkline, "group_expired_batches", "t", "g")).isZero();
            group.ack(token);
            assertThat(value(trunkline, "group_open_batches", "t", "g")).isZero();
        }
    }

    @Test
    void how_long_nobody_has_done_the_upkeep_is_seen() throws Exception {
        try (Trunkline trunkline = place.options().backgroundWork(false).open();
                Connection connection =
                        Place.postgres().dataSource(place.database()).getConnection();
                var statement = connection.createStatement()) {
            statement.execute("update trunkline.upkeep_turn set taken_at = taken_at - interval '1 hour'");
            assertThat(value(trunkline, "upkeep_age_seconds", "", "")).isGreaterThan(59 * 60);
            statement.execute("call trunkline.upkeep_now()");
            assertThat(value(trunkline, "upkeep_age_seconds", "", "")).isLessThan(59 * 60);
        }
    }

    @Test
    void what_a_group_keeps_beyond_its_retention_is_pinned_and_what_nobody_keeps_is_overdue() throws Exception {
        try (Trunkline trunkline = place.options().backgroundWork(false).open();
                Connection connection =
                        Place.postgres().dataSource(place.database()).getConnection();
                var statement = connection.createStatement()) {
            trunkline
                    .topics()
                    .create(TopicConfiguration.pubSub("t").withPartitions(1).withRetention(Duration.ofMinutes(1)));
            for (int i = 0; i < 5; i++) {
                trunkline.publisher().publish(Message.of("t", "m" + i));
                statement.execute("select trunkline.roll_segment(id) from trunkline.topic");
            }
            statement.execute("update trunkline.segment set opened_at = opened_at - interval '1 hour'");
            assertThat(value(trunkline, "topic_overdue_segments", "t", "")).isEqualTo(5);
            assertThat(value(trunkline, "topic_pinned_bytes", "t", "")).isZero();
            trunkline.pull("late", "t", String.class, PullOptions.fromBeginning());
            assertThat(value(trunkline, "topic_overdue_segments", "t", "")).isZero();
            assertThat(value(trunkline, "topic_pinned_bytes", "t", "")).isPositive();
        }
    }

    @Test
    void without_the_database_the_rest_is_still_told() {
        try (FaultProxy line = new FaultProxy(Place.postgres().port());
                Trunkline trunkline = place.options(line.jdbcUrl(place.database()))
                        .backgroundWork(false)
                        .observer(metrics)
                        .open()) {
            trunkline.topics().create(TopicConfiguration.queue("t"));
            trunkline.publisher().publish(Message.of("t", "m"));
            metrics.watch(trunkline);
            await("trunkline_up", "trunkline_up 1.0");
            assertThat(scrape("trunkline_topic_segments")).hasSize(1);
            line.refuse(true);
            line.cutNow();
            await("trunkline_up", "trunkline_up 0.0");
            assertThat(scrape("trunkline_topic_segments")).isEmpty();
            assertThat(scrape("trunkline_published_messages_total")).hasSize(1);
            line.refuse(false);
            await("trunkline_up", "trunkline_up 1.0");
            assertThat(scrape("trunkline_topic_segments")).hasSize(1);
        }
    }

    @Test
    void a_scrape_waits_once_for_a_database_that_does_not_answer() throws Exception {
        try (FaultProxy line = new FaultProxy(Place.postgres().port());
                Trunkline trunkline = place.options(line.jdbcUrl(place.database()))
                        .backgroundWork(false)
                        .open()) {
            line.trap("trunkline.metrics", FaultProxy.Fate.REQUEST_VANISHES);
            metrics.watch(trunkline);
            metrics.refresh();
            Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> line.trapped() == 1);
            AtomicReference<String> scraped = new AtomicReference<>();
            Thread rest = Thread.ofPlatform().start(() -> scraped.set(registry.scrape()));
            Awaitility.await()
                    .atMost(Duration.ofMinutes(1))
                    .pollInterval(Duration.ofMillis(1))
                    .until(() -> rest.getState() == State.TIMED_WAITING || rest.getState() == State.TERMINATED);
            assertThat(rest.getState()).isEqualTo(State.TERMINATED);
            assertThat(scraped.get()).contains("trunkline_up 0.0");
            line.restore();
            await("trunkline_up", "trunkline_up 1.0");
        }
    }

    @Test
    void the_database_is_asked_when_somebody_looks_and_not_each_time() {
        try (Trunkline trunkline = place.options().backgroundWork(false).open()) {
            AtomicInteger asked = new AtomicInteger();
            InstallationGauges gauges = new InstallationGauges(new SimpleMeterRegistry(), () -> {
                asked.incrementAndGet();
                return trunkline.admin().figures();
            });
            assertThat(asked).hasValue(0);
            for (int i = 0; i < 100; i++) {
                gauges.refresh();
            }
            assertThat(asked.get()).isBetween(1, 3);
        }
    }
}
