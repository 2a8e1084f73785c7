package dev.trunkline.server.http;

import dev.trunkline.CompletionTrackingMode;
import dev.trunkline.InvalidTopicException;
import dev.trunkline.Ordering;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.TopicExistsException;
import dev.trunkline.TopicSemantics;
import dev.trunkline.Topics;
import dev.trunkline.UnknownTopicException;
import dev.trunkline.server.topics.TopicSettings;
import java.time.Duration;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** Topics. */
final class TopicRoutes {

    private static final String TOPICS = "/v1/topics";
    private static final String TOPIC = TOPICS + "/{topic}";

    private static final int MOST_PARTITIONS = 1_024;
    private static final int MOST_BYTES = 256 << 20;
    private static final int LEAST_SEGMENT = 8_192;
    private static final Duration LONGEST = Duration.ofDays(36_500);

    private final Topics topics;

    TopicRoutes(Topics topics) {
        this.topics = topics;
    }

    List<Route> all() {
        return List.of(
                Route.of("GET", TOPICS, Verb.READ, "lists topics, by name", this::list)
                        .query(Page.AFTER_TEXT, Page.LIMIT)
                        .answers(Route.OK, Page.of(Topic.class)),
                Route.of(
                                "POST",
                                TOPICS,
                                Verb.ADMIN,
                                "makes a topic: a queue, unless something else is said",
                                this::create)
                        .takes(TopicSettings.class)
                        .answers(Route.CREATED, Topic.class),
                Route.of("GET", TOPIC, Verb.READ, "tells of a topic", this::get).answers(Route.OK, Topic.class),
                Route.of("PATCH", TOPIC, Verb.ADMIN, "alters a topic; what is not said stays", this::alter)
                        .takes(TopicSettings.class)
                        .answers(Route.OK, Topic.class),
                Route.of("DELETE", TOPIC, Verb.ADMIN, "drops a topic with all its messages and groups", this::drop)
                        .answersNothing());
    }

    /** A topic as it is told. */
    record Topic(
            String name,
            TopicSemantics semantics,
            Ordering ordering,
            int partitions,
            int lanes,
            boolean priorityLevels,
            @Nullable String namespace,
            @Nullable String task,
            Duration retention,
            int maxPayloadBytes,
            long segmentBytes,
            Duration segmentAge,
            CompletionTrackingMode tracking,
            Duration unheard,
            boolean refuseUnheard,
            Duration zombieTtl,
            Duration hardCap) {

        static Topic of(TopicConfiguration topic) {
            return new Topic(
                    topic.name(),
                    topic.semantics(),
                    topic.ordering(),
                    topic.partitions(),
                    topic.lanes(),
                    topic.priorityLevels(),
                    topic.namespace().orElse(null),
                    topic.task().orElse(null),
                    topic.retention(),
                    topic.maxPayloadBytes(),
                    topic.segmentBytes(),
                    topic.segmentAge(),
                    topic.tracking(),
                    topic.keeping().unheard(),
                    topic.keeping().refuseUnheard(),
                    topic.keeping().zombieTtl(),
                    topic.keeping().hardCap());
        }
    }

    private void list(Exchange exchange) throws Exception {
        String after = exchange.text(Page.AFTER_TEXT)
                .map(name -> Said.name("after", name))
                .orElse("");
        int limit = (int) exchange.number(Page.LIMIT);
        List<Topic> found = topics.list().stream()
                .filter(topic -> topic.name().compareTo(after) > 0)
                .sorted((one, other) -> one.name().compareTo(other.name()))
                .limit(limit + 1L)
                .map(Topic::of)
                .toList();
        exchange.answer(Route.OK, Page.of(found, limit, Topic::name));
    }

    private void create(Exchange exchange) throws Exception {
        TopicSettings wish = exchange.body(TopicSettings.class);
        if (wish.name() == null) {
            throw Problem.of("name", "a topic has a name");
        }
        check(wish);
        TopicConfiguration plain = wish.semantics() == TopicSemantics.PUB_SUB
                ? TopicConfiguration.pubSub(wish.name())
                : TopicConfiguration.queue(wish.name());
        try {
            topics.create(wish.applyTo(plain));
        } catch (TopicExistsException e) {
            throw new Problem(409, String.valueOf(e.getMessage())).with("field", "name");
        }
        exchange.answer(Route.CREATED, Topic.of(find(wish.name())));
    }

    private void get(Exchange exchange) throws Exception {
        exchange.answer(Route.OK, Topic.of(find(exchange.path("topic"))));
    }

    private void alter(Exchange exchange) throws Exception {
        TopicSettings wish = exchange.body(TopicSettings.class);
        String name = exchange.path("topic");
        if (wish.name() != null && !wish.name().equals(name)) {
            throw Problem.of("name", "a topic keeps its name");
        }
        check(wish);
        TopicConfiguration now = find(name);
        forLife("ordering", wish.ordering(), now.ordering());
        forLife("partitions", wish.partitions(), now.partitions());
        forLife("lanes", wish.lanes(), now.lanes());
        forLife("priorityLevels", wish.priorityLevels(), now.priorityLevels());
        try {
            topics.alter(wish.applyTo(now));
        } catch (InvalidTopicException e) {
            // All else was looked at when it was read; only the topic knows its groups.
            throw Problem.of("semantics", String.valueOf(e.getMessage()));
        }
        exchange.answer(Route.OK, Topic.of(find(name)));
    }

    private static void forLife(String field, @Nullable Object wanted, Object now) {
        Problem.require(
                wanted == null || wanted.equals(now),
                field,
                "a topic has it for life, and it is " + now + ": create another topic and move to it");
    }

    /** What the database would refuse, by the name of the field. */
    private static void check(TopicSettings wish) {
        ifSaid("name", wish.name(), Said::name);
        ifSaid("namespace", wish.namespace(), Said::name);
        ifSaid("task", wish.task(), Said::name);
        ifSaid("partitions", wish.partitions(), (field, count) -> Said.within(1, MOST_PARTITIONS, field, count));
        ifSaid("lanes", wish.lanes(), (field, count) -> Said.within(1, most(wish.partitions()), field, count));
        ifSaid("maxPayloadBytes", wish.maxPayloadBytes(), (field, bytes) -> Said.within(1, MOST_BYTES, field, bytes));
        ifSaid(
                "segmentBytes",
                wish.segmentBytes(),
                (field, bytes) -> Said.within(LEAST_SEGMENT, Long.MAX_VALUE, field, bytes));
        ifSaid("retention", wish.retention(), TopicRoutes::positive);
        ifSaid("segmentAge", wish.segmentAge(), TopicRoutes::positive);
        ifSaid("unheard", wish.unheard(), TopicRoutes::positive);
        ifSaid("zombieTtl", wish.zombieTtl(), TopicRoutes::positive);
        ifSaid("hardCap", wish.hardCap(), TopicRoutes::positive);
    }

    private static long most(@Nullable Integer partitions) {
        return partitions == null ? TopicConfiguration.queue("t").partitions() : partitions;
    }

    private static void positive(String field, Duration value) {
        Said.positive(LONGEST, field, value);
    }

    private static <V> void ifSaid(String field, @Nullable V value, BiConsumer<String, V> check) {
        if (value != null) {
            check.accept(field, value);
        }
    }

    private void drop(Exchange exchange) throws Exception {
        topics.drop(exchange.path("topic"));
        exchange.answer(Route.NO_CONTENT, null);
    }

    private TopicConfiguration find(String name) {
        return topics.find(name)
                .orElseThrow(() -> new UnknownTopicException("there is no topic \"" + name + "\": create it first"));
    }
}
