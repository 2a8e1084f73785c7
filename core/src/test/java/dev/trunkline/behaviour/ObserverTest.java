package dev.trunkline.behaviour;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.trunkline.Delivery;
import dev.trunkline.GroupListener;
import dev.trunkline.LogMessage;
import dev.trunkline.Message;
import dev.trunkline.Observer;
import dev.trunkline.RetryPolicy;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.UnknownTopicException;
import dev.trunkline.testing.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Who watches is told everything, and disturbs nothing. */
@Timeout(300)
class ObserverTest {

    private final TestDatabase database = TestDatabase.fresh();
    private final List<String> told = new CopyOnWriteArrayList<>();

    /** Writes down what it is told, without how long it took. */
    private final class Diary implements Observer, GroupListener {

        @Override
        public Publishing publishing(String topic, int messages) {
            return new Publishing() {
                @Override
                public Message carrying(Message message) {
                    return message.withHeader("mark", "by the observer");
                }

                @Override
                public void over(@Nullable Throwable problem) {
                    told.add("published " + messages + " to " + topic + outcome(problem));
                }
            };
        }

        @Override
        public Attempt handling(Delivery<?> delivery) {
            Thread thread = Thread.currentThread();
            return new Attempt() {
                @Override
                public void over(@Nullable Throwable problem) {
                    boolean same = thread.equals(Thread.currentThread());
                    told.add("attempt " + delivery.attempt() + " at " + delivery.payload() + outcome(problem)
                            + (same ? "" : " on another thread"));
                }
            };
        }

        private static String outcome(@Nullable Throwable problem) {
            return problem == null ? "" : ": " + problem.getClass().getSimpleName();
        }

        @Override
        public List<GroupListener> listeners(String group, String topic) {
            told.add("group " + group + " of " + topic);
            return List.of(this);
        }

        @Override
        public void relayed(String topic, long messages, Duration took) {
            told.add("relayed " + messages + " of " + topic);
        }

        @Override
        public void upkeep(Duration took, @Nullable Throwable problem) {
            told.add("upkeep" + outcome(problem));
        }

        @Override
        public void notified(boolean arriving) {
            told.add("notified " + arriving);
        }

        @Override
        public void handled(LogMessage message, Duration took) {
            told.add("handled " + message.text());
        }

        @Override
        public void deadLettered(LogMessage message, String error) {
            told.add("dead " + message.text());
        }

        @Override
        public void taken(int partition, long epoch) {
            told.add("taken " + partition);
        }

        @Override
        public void left(int partition) {
            told.add("left " + partition);
        }
    }

    /** Fails whenever it is told something; at first when something is opened, then when that is over. */
    private static final class Wreck implements Observer {

        private static AssertionError broken() {
            return new AssertionError("an observer that fails");
        }

        @Override
        public Publishing publishing(String topic, int messages) {
            if (topic.equals("none")) {
                throw broken();
            }
            return new Publishing() {
                @Override
                public Message carrying(Message message) {
                    throw broken();
                }

                @Override
                public void over(@Nullable Throwable problem) {
                    throw broken();
                }
            };
        }

        @Override
        public Attempt handling(Delivery<?> delivery) {
            if (delivery.attempt() == 1) {
                throw broken();
            }
            return new Attempt() {
                @Override
                public void over(@Nullable Throwable problem) {
                    throw broken();
                }
            };
        }

        @Override
        public List<GroupListener> listeners(String group, String topic) {
            return List.of(new GroupListener() {
                @Override
                public void handled(LogMessage message, Duration took) {
                    throw broken();
                }

                @Override
                public void failed(LogMessage message, int attempt, Throwable problem) {
                    throw broken();
                }

                @Override
                public void deadLettered(LogMessage message, String error) {
                    throw broken();
                }

                @Override
                public void taken(int partition, long epoch) {
                    throw broken();
                }
            });
        }

        @Override
        public void relayed(String topic, long messages, Duration took) {
            throw broken();
        }

        @Override
        public void upkeep(Duration took, @Nullable Throwable problem) {
            throw broken();
        }

        @Override
        public void notified(boolean arriving) {
            throw broken();
        }
    }

    @Test
    void it_is_told_what_the_process_does_though_another_one_fails_at_everything() throws SQLException {
        try (Trunkline trunkline = database.options()
                .backgroundWork(false)
                .observer(new Wreck())
                .observer(new Diary())
                .observer(new Wreck())
                .open()) {
            trunkline.topics().create(TopicConfiguration.pubSub("t").withPartitions(1));
            trunkline.publisher().publish(Message.of("t", "good"));
            trunkline
                    .publisher()
                    .publishAllAsync(List.of(Message.of("t", "a"), Message.of("t", "b")))
                    .join();
            try (Connection connection = database.connect()) {
                trunkline.publisher().publish(connection, Message.of("t", "bad"));
            }
            assertThatThrownBy(() -> trunkline.publisher().publish(Message.of("none", "x")))
                    .isInstanceOf(UnknownTopicException.class);
            assertThat(trunkline.relayNow()).isOne();
            trunkline.upkeepNow();
            assertThat(told)
                    .containsExactly(
                            "published 1 to t",
                            "published 2 to t",
                            "published 1 to t",
                            "published 1 to none: UnknownTopicException",
                            "relayed 1 of t",
                            "upkeep");

            trunkline
                    .createConsumerGroup("g", "t", String.class)
                    .addConsumer("a", delivery -> {
                        if (delivery.payload().equals("bad")) {
                            throw new IllegalStateException("always");
                        }
                    })
                    .start(SubscriptionOptions.fromBeginning()
                            .withRetry(new RetryPolicy(2, Duration.ofMillis(1), Duration.ofMillis(1))));
            Awaitility.await()
                    .atMost(Duration.ofMinutes(1))
                    .until(() -> told.containsAll(List.of(
                            "group g of t",
                            "taken 0",
                            "attempt 1 at good",
                            "handled good",
                            "attempt 1 at bad: IllegalStateException",
                            "attempt 2 at bad: IllegalStateException",
                            "dead bad",
                            "notified true")));
            assertThat(trunkline.log().read("t", 0, 0, 10))
                    .extracting(LogMessage::headers)
                    .containsOnly(Map.of("mark", "by the observer"));
        }
        assertThat(told).contains("left 0").noneMatch(line -> line.contains("another thread"));
    }
}
