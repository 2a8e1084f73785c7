package dev.trunkline.observability;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.ConsumerGroupAdmin.Figure;
import dev.trunkline.ConsumerGroupAdmin.GroupState;
import dev.trunkline.Message;
import dev.trunkline.PullOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** A thousand topics, each with a group, half of them with something to do. It says how long the figures take. */
@Tag("long")
class ManyTopicsTest {

    private static final int TOPICS = 1_000;

    @Test
    void a_thousand_topics_are_one_query() {
        try (Trunkline trunkline = Place.fresh().options().backgroundWork(false).open()) {
            for (int i = 0; i < TOPICS; i++) {
                String topic = "t" + i;
                trunkline.topics().create(TopicConfiguration.pubSub(topic));
                trunkline.pull("g", topic, String.class, PullOptions.fromBeginning());
                if (i % 2 == 0) {
                    List<Message> messages = new ArrayList<>();
                    for (int n = 0; n < 20; n++) {
                        messages.add(Message.of(topic, "m").withKey("k" + n));
                    }
                    trunkline.publisher().publishAll(messages);
                }
            }
            List<Figure> figures = trunkline.admin().figures();
            long began = System.nanoTime();
            for (int i = 0; i < 5; i++) {
                figures = trunkline.admin().figures();
            }
            LoggerFactory.getLogger(ManyTopicsTest.class)
                    .warn(
                            "{} figures of {} topics: {} ms",
                            figures.size(),
                            TOPICS,
                            (System.nanoTime() - began) / 5_000_000);
            assertThat(figures.stream()
                            .filter(figure -> figure.name().equals("group_lag_messages"))
                            .mapToLong(figure -> (long) figure.value())
                            .sum())
                    .isEqualTo(trunkline.admin().groups().stream()
                            .mapToLong(GroupState::pending)
                            .sum())
                    .isEqualTo(20L * TOPICS / 2);
        }
    }
}
