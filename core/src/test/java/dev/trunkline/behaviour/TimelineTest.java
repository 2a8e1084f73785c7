package dev.trunkline.behaviour;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.Message;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.testing.TestDatabase;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who comes first where a standby has taken over has numbers go on far from where they were, before any is given. */
class TimelineTest {

    private final TestDatabase database = TestDatabase.fresh();

    @ParameterizedTest
    @ValueSource(strings = {"append", "relay", "pop", "upkeep"})
    void whoever_comes_first_notices(String who) {
        try (Trunkline trunkline = database.open()) {
            trunkline.topics().create(TopicConfiguration.queue("t").withPartitions(1));
            database.query("select trunkline.subscribe_pull('shared', 't', 'BEGINNING')");
            trunkline.publisher().publish(Message.of("t", "before"));
            database.execute("update trunkline.installation set timeline = 'of before'");
            switch (who) {
                case "append" ->
                    assertThat(trunkline
                                    .publisher()
                                    .publish(Message.of("t", "m"))
                                    .id())
                            .isGreaterThan(1_000_000L << 20);
                case "relay" -> database.query("select trunkline.relay(1)");
                case "pop" ->
                    assertThat(database.number("select epoch from trunkline.pop('shared', 't', 1, '1 minute')"))
                            .isGreaterThan(1_000_000);
                default -> database.query("select trunkline.upkeep('prune marks')");
            }
            assertThat(database.query("select timeline = trunkline.timeline() from trunkline.installation"))
                    .containsExactly("t");
            assertThat(database.number("select min(epoch) from trunkline.holder"))
                    .isEqualTo(1_000_000);
        }
    }
}
