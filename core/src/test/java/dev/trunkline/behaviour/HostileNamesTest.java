package dev.trunkline.behaviour;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.ConsumerGroup;
import dev.trunkline.ConsumerGroupAdmin;
import dev.trunkline.ConsumerGroupException;
import dev.trunkline.InvalidMessageException;
import dev.trunkline.InvalidTopicException;
import dev.trunkline.LogMessage;
import dev.trunkline.Message;
import dev.trunkline.PullConsumer;
import dev.trunkline.PullOptions;
import dev.trunkline.Start;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.TopicExistsException;
import dev.trunkline.TopicPattern;
import dev.trunkline.Trunkline;
import dev.trunkline.UnknownTopicException;
import dev.trunkline.rig.HostileInputs;
import dev.trunkline.testing.Onslaught;
import dev.trunkline.testing.TestDatabase;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * F29: wherever the library takes a name, each of a hundred bad ones comes back as it was given, or is refused for what is wrong with it. A
 * topic and a group are called "?", which is what becomes of half a character on its way to the database: nobody must find them by it.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class HostileNamesTest {

    private static final String DECOY = "?";
    private static final Duration MINUTE = Duration.ofMinutes(1);

    private final TestDatabase database = TestDatabase.fresh();
    private final Trunkline trunkline = database.open();
    private final Onslaught onslaught = onslaught();

    private Onslaught onslaught() {
        trunkline.topics().create(TopicConfiguration.pubSub("t").withPartitions(1));
        trunkline.topics().create(TopicConfiguration.pubSub(DECOY).withPartitions(1));
        trunkline.pull(DECOY, "t", byte[].class, PullOptions.fromNow());
        trunkline.pull("g", DECOY, byte[].class, PullOptions.fromNow());
        trunkline.pull(DECOY, TopicPattern.name(DECOY.replace("?", "\\?")), byte[].class, PullOptions.fromNow());
        try {
            return new Onslaught(database);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @AfterAll
    void close() throws Exception {
        System.out.println(onslaught.cases() + " bad names were thrown at the Java API");
        onslaught.close();
        trunkline.close();
    }

    /** The rule for topics, groups, namespaces and tasks. */
    private static boolean isName(String text) {
        return isText(text)
                && !text.isEmpty()
                && text.codePointCount(0, text.length()) <= 255
                && text.codePoints().noneMatch(Character::isISOControl);
    }

    private static boolean isText(String text) {
        return text.codePoints().noneMatch(c -> c == 0 || (c >= 0xd800 && c <= 0xdfff));
    }

    private static List<String> others() {
        return HostileInputs.some(HostileNamesTest::isName).stream()
                .filter(name -> !name.equals(DECOY))
                .toList();
    }

    private void throwAll(
            String entry,
            Predicate<String> fits,
            List<Class<? extends Exception>> refusals,
            Onslaught.Attempt<String> attempt)
            throws Exception {
        onslaught.texts(entry, HostileInputs.names(), fits, refusals, attempt);
    }

    @Test
    void a_topic_has_the_name_it_was_given() throws Exception {
        throwAll(
                "a topic",
                name -> isName(name) && !name.equals(DECOY),
                List.of(InvalidTopicException.class, TopicExistsException.class),
                name -> {
                    TopicConfiguration topic = TopicConfiguration.pubSub(name)
                            .withPartitions(1)
                            .withNamespace(name)
                            .withTask(name);
                    trunkline.topics().create(topic);
                    assertThat(trunkline.topics().find(name)).contains(topic);
                    assertThat(trunkline.topics().list()).hasSize(3).contains(topic);
                    trunkline.topics().configure(topic.withTask("other"));
                    trunkline.publisher().publish(Message.of(name, name));
                    assertThat(trunkline.log().read(name, 0, 0, 2))
                            .extracting(LogMessage::topic)
                            .containsExactly(name);
                    trunkline.topics().drop(name);
                });
    }

    @Test
    void a_topic_is_not_changed_to_what_can_not_be_said() throws Exception {
        TopicConfiguration topic = trunkline.topics().find("t").orElseThrow();
        throwAll("a namespace and a task", HostileNamesTest::isName, List.of(InvalidTopicException.class), name -> {
            trunkline.topics().alter(topic.withNamespace(name).withTask(name));
            TopicConfiguration now = trunkline.topics().find("t").orElseThrow();
            assertThat(now.namespace()).contains(name);
            assertThat(now.task()).contains(name);
        });
    }

    @Test
    void what_is_not_there_is_not_found() throws Exception {
        throwAll(
                "a topic",
                name -> true,
                List.of(),
                name -> assertThat(trunkline.topics().find(name).isPresent()).isEqualTo(name.equals(DECOY)));
    }

    interface OnTopic {
        void call(Trunkline trunkline, String topic) throws Exception;
    }

    static Stream<Arguments> waysToATopic() {
        OnTopic drop = (it, topic) -> it.topics().drop(topic);
        OnTopic alter = (it, topic) -> it.topics().alter(TopicConfiguration.pubSub(topic));
        OnTopic read = (it, topic) -> it.log().read(topic, 0, 0, 1);
        OnTopic end = (it, topic) -> it.log().end(topic, 0);
        OnTopic tail = (it, topic) -> it.log().tail(topic);
        OnTopic publish = (it, topic) -> it.publisher().publish(Message.of(topic, "x"));
        OnTopic publishAll = (it, topic) -> it.publisher().publishAll(List.of(Message.of(topic, "x")));
        OnTopic pull = (it, topic) -> it.pull("g", topic, byte[].class, PullOptions.fromNow());
        OnTopic start = (it, topic) -> it.createConsumerGroup("h", topic, byte[].class)
                .addConsumer("c", delivery -> {})
                .start(SubscriptionOptions.fromNow());
        OnTopic consume = (it, topic) -> it.createConsumer(topic, byte[].class)
                .addConsumer("c", delivery -> {})
                .start(SubscriptionOptions.fromNow());
        OnTopic pause = (it, topic) -> it.admin().pause("g", topic);
        OnTopic seek = (it, topic) -> it.admin().planSeek("g", topic, Start.now());
        OnTopic complete = (it, topic) -> it.admin().forceComplete("g", topic);
        OnTopic explain = (it, topic) -> it.admin().explain("g", topic, 1);
        OnTopic audit = (it, topic) -> it.admin().audit(topic, 1);
        OnTopic letters = (it, topic) ->
                it.createConsumerGroup("g", topic, byte[].class).deadLetters().redriveAll();
        return Stream.of(
                Arguments.of("drop", drop),
                Arguments.of("alter", alter),
                Arguments.of("read", read),
                Arguments.of("end", end),
                Arguments.of("tail", tail),
                Arguments.of("publish", publish),
                Arguments.of("publishAll", publishAll),
                Arguments.of("pull", pull),
                Arguments.of("start", start),
                Arguments.of("consume", consume),
                Arguments.of("pause", pause),
                Arguments.of("seek", seek),
                Arguments.of("complete", complete),
                Arguments.of("explain", explain),
                Arguments.of("audit", audit),
                Arguments.of("letters", letters));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("waysToATopic")
    void a_topic_that_is_not_there_is_refused(String way, OnTopic call) throws Exception {
        onslaught.texts(
                way + " of a topic",
                others(),
                name -> false,
                List.of(UnknownTopicException.class, InvalidMessageException.class, ConsumerGroupException.class),
                name -> call.call(trunkline, name));
    }

    @Test
    void a_group_that_pulls_has_the_name_it_was_given() throws Exception {
        Predicate<String> fits = name -> isName(name) && !name.equals(ConsumerGroup.SHARED);
        throwAll("a group", fits, List.of(ConsumerGroupException.class), name -> {
            PullConsumer<byte[]> group = trunkline.pull(name, "t", byte[].class, PullOptions.fromNow());
            byte[] payload = {1};
            trunkline.publisher().publish(Message.of("t", payload));
            assertThat(group.pop(9, MINUTE).orElseThrow().deliveries())
                    .allSatisfy(delivery -> assertThat(delivery.group()).isEqualTo(name));
            assertThat(trunkline.admin().find(name, "t").orElseThrow().name()).isEqualTo(name);
            assertThat(trunkline.admin().gaps(name, "t")).isEmpty();
            if (!name.equals(DECOY)) {
                trunkline.admin().cancel(name, "t");
            }
        });
    }

    @Test
    void a_group_with_handlers_has_the_name_it_was_given() throws Exception {
        List<Class<? extends Exception>> refusals =
                List.of(ConsumerGroupException.class, IllegalArgumentException.class);
        // Each start takes a while: all that are refused, and a few of the others.
        List<String> all = HostileInputs.names();
        List<String> some = all.stream()
                .filter(name -> !isName(name) || all.indexOf(name) % 40 == 0)
                .toList();
        onslaught.texts("a group", some, HostileNamesTest::isName, refusals, name -> {
            try (ConsumerGroup<byte[]> group = trunkline.createConsumerGroup(name, "t", byte[].class)) {
                group.addConsumer(name, delivery -> {}).start(SubscriptionOptions.fromNow());
                assertThat(trunkline.admin().groups())
                        .extracting(ConsumerGroupAdmin.GroupState::name)
                        .contains(name);
                group.cancel();
            }
        });
    }

    interface OnGroup {
        void call(ConsumerGroupAdmin admin, String group);
    }

    static Stream<Arguments> waysToAGroup() {
        OnGroup pause = (admin, group) -> admin.pause(group, "t");
        OnGroup resume = (admin, group) -> admin.resume(group, "t");
        OnGroup cancel = (admin, group) -> admin.cancel(group, "t");
        OnGroup resurrect = (admin, group) -> admin.resurrect(group, "t", true);
        OnGroup seek = (admin, group) -> admin.seek(group, "t", Start.now());
        OnGroup seekByForce = (admin, group) -> admin.seekByForce(group, "t", 0, Start.now());
        OnGroup complete = (admin, group) -> admin.forceComplete(group, "t");
        OnGroup skip = (admin, group) -> admin.skipCatchUp(group, "t");
        OnGroup hold = (admin, group) -> admin.cancelCatchUp(group, "t");
        OnGroup catchUp = (admin, group) -> admin.catchUp(group, "t");
        OnGroup explain = (admin, group) -> admin.explain(group, "t", 0, 0);
        OnGroup wildcard = (admin, group) -> admin.cancelWildcard(group, TopicPattern.name("\\?"));
        return Stream.of(
                Arguments.of("pause", pause),
                Arguments.of("resume", resume),
                Arguments.of("cancel", cancel),
                Arguments.of("resurrect", resurrect),
                Arguments.of("seek", seek),
                Arguments.of("seekByForce", seekByForce),
                Arguments.of("complete", complete),
                Arguments.of("skip", skip),
                Arguments.of("hold", hold),
                Arguments.of("catchUp", catchUp),
                Arguments.of("explain", explain),
                Arguments.of("wildcard", wildcard));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("waysToAGroup")
    void a_group_that_is_not_there_is_refused(String way, OnGroup call) throws Exception {
        onslaught.texts(
                way + " of a group",
                others(),
                name -> false,
                List.of(ConsumerGroupException.class),
                name -> call.call(trunkline.admin(), name));
    }

    @Test
    void a_group_that_is_not_there_is_not_found() throws Exception {
        throwAll("a group", HostileNamesTest::isText, List.of(ConsumerGroupException.class), name -> {
            assertThat(trunkline.admin().find(name, "t").isPresent()).isEqualTo(name.equals(DECOY));
            assertThat(trunkline.admin().gaps(name, "t")).isEmpty();
        });
    }

    @Test
    void a_consumer_has_the_id_it_was_given() throws Exception {
        ConsumerGroup<byte[]> group = trunkline.createConsumerGroup("ids", "t", byte[].class);
        throwAll("a consumer", name -> true, List.of(), name -> {
            group.addConsumer(name, delivery -> {});
            group.limit(name, 1);
        });
        throwAll("a consumer", name -> false, List.of(ConsumerGroupException.class), name -> {
            group.addConsumer(name, delivery -> {});
        });
        throwAll("a consumer", name -> true, List.of(), group::removeConsumer);
        throwAll("a consumer", name -> false, List.of(ConsumerGroupException.class), group::removeConsumer);
    }

    @Test
    void a_pattern_that_means_every_character_as_it_is_finds_one_topic() throws Exception {
        List<Class<? extends Exception>> refusals =
                List.of(IllegalArgumentException.class, InvalidTopicException.class, ConsumerGroupException.class);
        Predicate<String> fits = name -> isName(name) && isName(escape(name));
        List<String> names = others();
        onslaught.texts("a pattern", names, fits, refusals, name -> {
            TopicPattern pattern = TopicPattern.name(escape(name));
            PullConsumer<byte[]> group = trunkline.pull("w", pattern, byte[].class, PullOptions.fromNow());
            trunkline.topics().create(TopicConfiguration.pubSub(name).withPartitions(1));
            trunkline.publisher().publish(Message.of(name, name));
            assertThat(group.pop(9, MINUTE)
                            .orElseThrow()
                            .deliveries()
                            .getFirst()
                            .message()
                            .topic())
                    .isEqualTo(name);
            assertThat(trunkline.admin().wildcards())
                    .extracting(ConsumerGroupAdmin.Wildcard::pattern)
                    .contains(pattern);
            trunkline.admin().cancelWildcard("w", pattern);
            trunkline.topics().drop(name);
        });
    }

    private static String escape(String name) {
        return name.replace("\\", "\\\\").replace("*", "\\*").replace("?", "\\?");
    }

    @Test
    void patterns_are_refused_if_no_name_can_be_like_them() throws Exception {
        List<Class<? extends Exception>> refusals =
                List.of(IllegalArgumentException.class, InvalidTopicException.class, ConsumerGroupException.class);
        Predicate<String> fits = name -> isName(name) && (!name.endsWith("\\") || name.endsWith("\\\\"));
        throwAll("a pattern", fits, refusals, name -> {
            TopicPattern pattern = TopicPattern.name(name).withNamespace("none");
            trunkline.pull("w", pattern, byte[].class, PullOptions.fromNow());
            assertThat(trunkline.admin().wildcards())
                    .extracting(ConsumerGroupAdmin.Wildcard::pattern)
                    .contains(pattern);
            trunkline.admin().cancelWildcard("w", pattern);
        });
        throwAll("a namespace", HostileNamesTest::isName, refusals, name -> {
            TopicPattern pattern = TopicPattern.namespace(name).withTask(name).withName("none");
            trunkline.pull("w", pattern, byte[].class, PullOptions.fromNow());
            assertThat(trunkline.admin().wildcards())
                    .extracting(ConsumerGroupAdmin.Wildcard::pattern)
                    .contains(pattern);
            trunkline.admin().cancelWildcard("w", pattern);
        });
    }

    @Test
    void a_group_wants_the_keys_it_was_given() throws Exception {
        Predicate<String> fits = key -> isText(key) && key.getBytes(StandardCharsets.UTF_8).length <= 1024;
        throwAll("a key", fits, List.of(ConsumerGroupException.class), key -> {
            PullConsumer<byte[]> group = trunkline.pull(
                    "keyed", "t", byte[].class, PullOptions.fromNow().withKeys(Set.of(key)));
            trunkline
                    .publisher()
                    .publishAll(List.of(
                            Message.of("t", "no").withKey("another key"),
                            Message.of("t", "yes").withKey(key)));
            assertThat(group.pop(9, MINUTE).orElseThrow().deliveries())
                    .singleElement()
                    .satisfies(delivery -> assertThat(delivery.key()).isEqualTo(key));
            trunkline.admin().cancel("keyed", "t");
        });
        throwAll("a key", key -> fits.test(key), List.of(ConsumerGroupException.class), key -> {
            try (ConsumerGroup<byte[]> group = trunkline.createConsumerGroup("wants", "t", byte[].class)) {
                group.addConsumer("c", delivery -> {})
                        .start(SubscriptionOptions.fromNow().withKeys(Set.of(key)));
                group.cancel();
            }
        });
    }

    interface OnToken {
        void call(PullConsumer<byte[]> group, String token) throws Exception;
    }

    static Stream<Arguments> waysToABatch() {
        OnToken ack = PullConsumer::ack;
        OnToken ackSome = (group, token) -> group.ack(token, List.of(1L));
        OnToken nack = (group, token) -> group.nack(token, Duration.ZERO, "error");
        OnToken reject = (group, token) -> group.reject(token, List.of(1L), "error");
        OnToken extend = (group, token) -> group.extend(token, MINUTE);
        return Stream.of(
                Arguments.of("ack", ack),
                Arguments.of("ackSome", ackSome),
                Arguments.of("nack", nack),
                Arguments.of("reject", reject),
                Arguments.of("extend", extend));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("waysToABatch")
    void a_token_that_names_no_batch_is_refused(String way, OnToken call) throws Exception {
        PullConsumer<byte[]> group = trunkline.pull(DECOY, "t", byte[].class, PullOptions.fromNow());
        List<Class<? extends Exception>> refusals = List.of(ConsumerGroupException.class);
        onslaught.texts(way + " of a token", others(), name -> false, refusals, name -> call.call(group, name));
    }

    @Test
    void a_token_that_names_no_batch_is_refused_in_a_transaction() throws Exception {
        PullConsumer<byte[]> group = trunkline.pull(DECOY, "t", byte[].class, PullOptions.fromNow());
        try (Connection connection = database.connect()) {
            throwAll(
                    "a token",
                    name -> false,
                    List.of(ConsumerGroupException.class),
                    name -> group.ack(connection, name));
        }
    }

    @Test
    void an_installation_lives_in_a_schema_with_a_plain_name() throws Exception {
        List<Class<? extends Exception>> refusals = List.of(IllegalArgumentException.class);
        throwAll(
                "a schema",
                name -> name.matches("[a-z_][a-z0-9_]{0,47}") && !name.startsWith("pg_"),
                refusals,
                name -> Trunkline.builder().schema(name));
    }
}
