package dev.trunkline.behaviour;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.trunkline.ConsumerGroup;
import dev.trunkline.ConsumerGroupException;
import dev.trunkline.GroupStatus;
import dev.trunkline.InvalidTopicException;
import dev.trunkline.Keeping;
import dev.trunkline.Message;
import dev.trunkline.NoSubscriptionsException;
import dev.trunkline.PullOptions;
import dev.trunkline.Receipt;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.TopicSemantics;
import dev.trunkline.Trunkline;
import dev.trunkline.testing.TestDatabase;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a live topic can become, and what it does while nobody listens. */
@Timeout(300)
class TopicLifeTest {

    private static final TopicConfiguration TOPIC =
            TopicConfiguration.pubSub("t").withPartitions(2);

    private final TestDatabase database = TestDatabase.fresh();
    private final List<String> seen = new CopyOnWriteArrayList<>();
    private Trunkline trunkline;

    @BeforeEach
    void open() {
        // Without background work what is published is in the log at once.
        trunkline = database.options()
                .lease(Duration.ofSeconds(3))
                .backgroundWork(false)
                .open();
    }

    @AfterEach
    void close() {
        trunkline.close();
    }

    private void publish(String payload) {
        trunkline.publisher().publish(Message.of("t", payload).withKey("k"));
    }

    @Test
    void a_topic_that_refuses_messages_while_nobody_listens_takes_them_once_somebody_does() {
        trunkline.topics().create(TOPIC.withKeeping(Keeping.standard().refusingUnheard()));
        assertRefused();
        trunkline.pull("g", "t", String.class, PullOptions.fromNow());
        publish("a");
        trunkline.admin().pause("g", "t");
        publish("b");
        trunkline.admin().cancel("g", "t");
        assertRefused();
        trunkline.topics().alter(TOPIC.withKeeping(Keeping.standard()));
        publish("c");
        assertThat(database.number("select count(*) from trunkline.messages")).isEqualTo(3);
    }

    private void assertRefused() {
        assertThatThrownBy(() -> publish("x"))
                .isInstanceOf(NoSubscriptionsException.class)
                .hasMessageContaining("nobody listens to topic \"t\"");
        assertThatThrownBy(() -> trunkline.publisher().publishAll(List.of(Message.of("t", "x"), Message.of("t", "y"))))
                .isInstanceOf(NoSubscriptionsException.class);
        assertThatThrownBy(() -> {
                    try (Connection connection = database.connect()) {
                        connection.setAutoCommit(false);
                        trunkline.publisher().publish(connection, Message.of("t", "x"));
                    }
                })
                .isInstanceOf(NoSubscriptionsException.class);
        assertThatThrownBy(() -> database.query("select trunkline.publish('t', 'x'::text)"))
                .hasMessageContaining("nobody listens");
        assertThatThrownBy(() -> database.query("select trunkline.publish_all('t', array['x'::bytea])"))
                .hasMessageContaining("nobody listens");
    }

    @Test
    void a_dead_group_does_not_listen_and_one_that_returns_does() {
        trunkline.topics().create(TOPIC.withKeeping(Keeping.forCriticalSystem()));
        start(trunkline.createConsumerGroup("g", "t", String.class)).close();
        publish("a");
        database.query("select trunkline.watch_groups()");
        database.query("select trunkline.watch_groups(clock_timestamp() + interval '6 minutes')");
        assertRefused();
        ConsumerGroup<String> group = start(trunkline.createConsumerGroup("g", "t", String.class));
        Awaitility.await().until(() -> seen.contains("a"));
        publish("b");
        Awaitility.await().until(() -> seen.contains("b"));
        group.close();
    }

    private ConsumerGroup<String> start(ConsumerGroup<String> group) {
        return group.addConsumer("c", delivery -> seen.add(delivery.payload()))
                .start(SubscriptionOptions.fromBeginning());
    }

    @Test
    void what_is_kept_is_remembered_and_checked() {
        Keeping keeping = new Keeping(Duration.ofHours(3), true, Duration.ofDays(2), Duration.ofDays(9));
        trunkline.topics().create(TOPIC.withKeeping(keeping));
        assertThat(trunkline.topics().find("t").orElseThrow().keeping()).isEqualTo(keeping);
        assertThatThrownBy(() -> trunkline.topics().alter(TOPIC.withKeeping(keeping.withHardCap(Duration.ZERO))))
                .isInstanceOf(InvalidTopicException.class)
                .hasMessageContaining("hard_cap");
    }

    /** The group of the queue goes on, in the process that serves it, while other groups come. */
    @Test
    void a_queue_becomes_pub_sub_under_load_and_nothing_is_lost_or_handled_twice() {
        trunkline.topics().create(TOPIC.withSemantics(TopicSemantics.QUEUE));
        ConsumerGroup<String> shared = start(trunkline.createConsumer("t", String.class));
        for (int i = 0; i < 100; i++) {
            publish("q" + i);
            if (i == 50) {
                trunkline.topics().alter(TOPIC.withSemantics(TopicSemantics.PUB_SUB));
            }
        }
        Awaitility.await().until(() -> seen.size() >= 100);
        assertThat(seen).hasSize(100).doesNotHaveDuplicates();
        Receipt last = trunkline.publisher().publish(Message.of("t", "last").withKey("k"));
        Awaitility.await().ignoreExceptions().until(() -> shared.await(last, Duration.ofSeconds(10)));
        assertThat(shared.deadLetters().list(0, 10)).isEmpty();
        seen.remove("last");
        assertThat(trunkline.admin().find("shared", "t").orElseThrow().status()).isEqualTo(GroupStatus.ACTIVE);
        shared.close();
        ConsumerGroup<String> again = start(trunkline.createConsumer("t", String.class));
        publish("after");
        Awaitility.await().until(() -> seen.contains("after"));
        assertThat(seen).hasSize(101);
        again.close();
    }

    @Test
    void a_topic_that_was_no_queue_gets_no_shared_group_by_mistake() {
        trunkline.topics().create(TOPIC);
        assertThatThrownBy(() -> start(trunkline.createConsumer("t", String.class)))
                .isInstanceOf(ConsumerGroupException.class)
                .hasMessageContaining("is pub/sub");
        assertThatThrownBy(() -> database.query("select trunkline.subscribe_wildcard('shared', a_name => '*')"))
                .hasMessageContaining("group of a queue");
        assertThat(trunkline.admin().groups()).isEmpty();
    }

    @Test
    void a_pub_sub_topic_becomes_a_queue_only_if_it_has_one_group_at_most_which_goes_on() {
        trunkline.topics().create(TOPIC);
        ConsumerGroup<String> first = start(trunkline.createConsumerGroup("first", "t", String.class));
        trunkline.pull("second", "t", String.class, PullOptions.fromNow());
        assertThatThrownBy(() -> trunkline.topics().alter(TOPIC.withSemantics(TopicSemantics.QUEUE)))
                .isInstanceOf(InvalidTopicException.class)
                .hasMessageContaining("2 groups (first, second)");
        trunkline.admin().cancel("second", "t");
        trunkline.topics().alter(TOPIC.withSemantics(TopicSemantics.QUEUE));
        publish("a");
        Awaitility.await().until(() -> seen.contains("a"));
        first.close();
        ConsumerGroup<String> again = start(trunkline.createConsumer("t", String.class));
        publish("b");
        Awaitility.await().until(() -> seen.contains("b"));
        assertThat(seen).containsExactly("a", "b");
        again.close();
    }
}
