package dev.trunkline.server.http;

import dev.trunkline.CompletionTrackingMode;
import dev.trunkline.Ordering;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.TopicSemantics;
import dev.trunkline.Topics;
import dev.trunkline.UnknownTopicException;
import dev.trunkline.server.topics.TopicSettings;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Topics. */
final class TopicRoutes {

    private static final int PAGE = 100;
    private static final int LARGEST_PAGE = 1_000;

    private final Topics topics;

    TopicRoutes(Topics topics) {
        this.topics = topics;
    }

    List<Route> all() {
        return List.of(
                Route.of("GET", "/v1/topics", Verb.READ, this::list),
                Route.of("POST", "/v1/topics", Verb.ADMIN, this::create),
                Route.of("GET", "/v1/topics/{topic}", Verb.READ, this::get),
                Route.of("PATCH", "/v1/topics/{topic}", Verb.ADMIN, this::alter),
                Route.of("DELETE", "/v1/topics/{topic}", Verb.ADMIN, this::drop));
    }

    /** A topic as it is told. */
    record Told(
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
            CompletionTrackingMode tracking) {

        static Told of(TopicConfiguration topic) {
            return new Told(
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
                    topic.tracking());
        }
    }

    private void list(Exchange exchange) throws Exception {
        exchange.allowQuery("after", "limit");
        String after = exchange.query("after").orElse("");
        int limit = (int) exchange.query("limit", PAGE, 1, LARGEST_PAGE);
        List<Told> found = topics.list().stream()
                .filter(topic -> topic.name().compareTo(after) > 0)
                .sorted((one, other) -> one.name().compareTo(other.name()))
                .limit(limit + 1L)
                .map(Told::of)
                .toList();
        exchange.answer(200, Page.of(found, limit, Told::name));
    }

    private void create(Exchange exchange) throws Exception {
        TopicSettings wish = exchange.body(TopicSettings.class);
        if (wish.name() == null) {
            throw Problem.of("name", "a topic has a name");
        }
        TopicConfiguration plain = wish.semantics() == TopicSemantics.PUB_SUB
                ? TopicConfiguration.pubSub(wish.name())
                : TopicConfiguration.queue(wish.name());
        topics.create(wish.applyTo(plain));
        exchange.answer(201, Told.of(find(wish.name())));
    }

    private void get(Exchange exchange) throws Exception {
        exchange.answer(200, Told.of(find(exchange.path("topic"))));
    }

    private void alter(Exchange exchange) throws Exception {
        TopicSettings wish = exchange.body(TopicSettings.class);
        String name = exchange.path("topic");
        if (wish.name() != null && !wish.name().equals(name)) {
            throw Problem.of("name", "a topic keeps its name");
        }
        topics.alter(wish.applyTo(find(name)));
        exchange.answer(200, Told.of(find(name)));
    }

    private void drop(Exchange exchange) throws Exception {
        topics.drop(exchange.path("topic"));
        exchange.answer(204, null);
    }

    private TopicConfiguration find(String name) {
        return topics.find(name)
                .orElseThrow(() -> new UnknownTopicException("there is no topic \"" + name + "\": create it first"));
    }
}
