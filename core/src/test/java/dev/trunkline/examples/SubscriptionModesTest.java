package dev.trunkline.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.ConsumerGroup;
import dev.trunkline.Message;
import dev.trunkline.PullOptions;
import dev.trunkline.Receipt;
import dev.trunkline.Start;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.testing.Popped;
import dev.trunkline.testing.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Where groups begin: with what is new, with all, or at a time; and that they stay with it. */
@Timeout(300)
class SubscriptionModesTest {

    /** Without background work what is published is in the log at once, where a pop that does not wait finds it. */
    private final Trunkline trunkline = TestDatabase.fresh().open();

    @BeforeEach
    void create() {
        trunkline.topics().create(TopicConfiguration.pubSub("test"));
    }

    @AfterEach
    void close() {
        trunkline.close();
    }

    private Receipt push(String key, String payload) {
        return trunkline.publisher().publish(Message.of("test", payload).withKey(key));
    }

    /** All that there is for the group now. */
    private List<String> pop(String group, Start start) {
        return Popped.all(trunkline.pull(group, "test", String.class, PullOptions.from(start)));
    }

    @Test
    void new_is_what_comes_from_now_on_and_if_asked_for_what_came_shortly_before() {
        push("p1", "M1");
        assertThat(pop("cg1", Start.now(Duration.ofMinutes(1)))).containsExactly("M1");
        assertThat(pop("cg2", Start.now())).isEmpty();
        push("p1", "M2");
        assertThat(pop("cg1", Start.now())).containsExactly("M2");
        assertThat(pop("cg2", Start.now())).containsExactly("M2");
    }

    @Test
    void a_partition_that_is_found_late_is_read_from_when_the_group_began_and_not_from_when_it_was_found() {
        assertThat(pop("cg1", Start.now())).isEmpty();
        Receipt m1 = push("p1", "M1");
        assertThat(pop("cg1", Start.now())).containsExactly("M1");
        Receipt m2 = push("p2", "M2");
        push("p2", "M3");
        assertThat(m2.partition()).isNotEqualTo(m1.partition());
        assertThat(pop("cg1", Start.now())).containsExactly("M2", "M3");
    }

    @Test
    void a_group_with_handlers_that_was_away_finds_what_came_into_other_partitions_since_it_began() {
        List<String> handled = new CopyOnWriteArrayList<>();
        try (ConsumerGroup<String> before = start("cg1", handled)) {
            push("p1", "M1");
            Awaitility.await().until(() -> before.metrics().handled() == 1);
        }
        push("p2", "M2");
        try (ConsumerGroup<String> after = start("cg1", handled)) {
            Awaitility.await().until(() -> after.metrics().handled() == 1);
        }
        assertThat(handled).containsExactly("M1", "M2");
    }

    private ConsumerGroup<String> start(String group, List<String> handled) {
        return trunkline
                .createConsumerGroup(group, "test", String.class)
                .addConsumer("c", delivery -> handled.add(delivery.payload()))
                .start(SubscriptionOptions.from(Start.now()));
    }

    @Test
    void groups_begin_where_each_of_them_says() {
        push("p1", "M1");
        Instant between = Instant.now();
        push("p1", "M2");
        assertThat(pop("cg1", Start.parse("new"))).isEmpty();
        assertThat(pop("cg2", Start.parse("all"))).containsExactly("M1", "M2");
        assertThat(pop("cg3", Start.at(between))).containsExactly("M2");
    }

    @Test
    void the_first_word_counts_until_the_group_is_moved() {
        push("p1", "M1");
        assertThat(pop("cg1", Start.now())).isEmpty();
        assertThat(pop("cg1", Start.beginning())).isEmpty();
        trunkline.admin().seek("cg1", "test", Start.beginning());
        assertThat(pop("cg1", Start.now())).containsExactly("M1");
    }
}
