package dev.trunkline.server.http;

import dev.trunkline.ConsumerGroupAdmin;
import dev.trunkline.ConsumerGroupAdmin.GroupState;
import dev.trunkline.DeadLetter;
import dev.trunkline.DeadLetters;
import dev.trunkline.GroupStatus;
import dev.trunkline.Start;
import dev.trunkline.Trunkline;
import dev.trunkline.server.Output;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Groups, whoever serves them: how they are, where they are moved, what they have given up, and why a message is where it is. */
final class GroupRoutes {

    private static final String GROUP = "/v1/topics/{topic}/groups/{group}";
    private static final int PAGE = 100;
    private static final int LARGEST_PAGE = 1_000;

    private final Trunkline trunkline;
    private final ConsumerGroupAdmin admin;

    GroupRoutes(Trunkline trunkline) {
        this.trunkline = trunkline;
        this.admin = trunkline.admin();
    }

    List<Route> all() {
        return List.of(
                Route.of("GET", "/v1/groups", Verb.READ, this::list),
                Route.of("GET", GROUP, Verb.READ, this::get),
                Route.of("POST", GROUP + "/seek", Verb.ADMIN, this::seek),
                Route.of("POST", GROUP + "/pause", Verb.ADMIN, exchange -> change(exchange, admin::pause)),
                Route.of("POST", GROUP + "/resume", Verb.ADMIN, exchange -> change(exchange, admin::resume)),
                Route.of("POST", GROUP + "/cancel", Verb.ADMIN, exchange -> change(exchange, admin::cancel)),
                Route.of("GET", GROUP + "/dead-letters", Verb.READ, this::deadLetters),
                Route.of("POST", GROUP + "/dead-letters/redrive", Verb.ADMIN, exchange -> decide(exchange, true)),
                Route.of("POST", GROUP + "/dead-letters/discard", Verb.ADMIN, exchange -> decide(exchange, false)),
                Route.of("GET", GROUP + "/explain/{id}", Verb.READ, this::explain),
                Route.of("GET", "/v1/topics/{topic}/messages/{id}/audit", Verb.READ, this::audit));
    }

    /** A group as it is told. */
    record Told(
            String group,
            String topic,
            GroupStatus status,
            ConsumerGroupAdmin.Health health,
            int members,
            @Nullable Instant lastBeat,
            long pending,
            long done,
            @Nullable Instant lastProgress,
            long parked,
            long deadLetters,
            long passedOver,
            Instant createdAt) {

        static Told of(GroupState group) {
            return new Told(
                    Place.shown(group.name()),
                    group.topic(),
                    group.status(),
                    group.health(),
                    group.members(),
                    group.lastBeat().orElse(null),
                    group.pending(),
                    group.done(),
                    group.lastProgress().orElse(null),
                    group.parked(),
                    group.deadLetters(),
                    group.passedOver(),
                    group.createdAt());
        }
    }

    private void list(Exchange exchange) throws Exception {
        exchange.allowQuery();
        exchange.answer(
                200, Map.of("items", admin.groups().stream().map(Told::of).toList()));
    }

    private void get(Exchange exchange) throws Exception {
        Place place = Place.of(exchange, trunkline);
        exchange.answer(
                200, admin.find(place.group(), place.topic()).map(Told::of).orElseThrow(place::isNot));
    }

    /**
     * Where a group is to be moved.
     *
     * @param to as in {@code beginning}, {@code now}, {@code offset:5}, {@code message:7}, or a time
     * @param partition only this one
     * @param dryRun only tell what it would do
     * @param force also if it runs
     */
    record Move(
            @Nullable String to,
            @Nullable Integer partition,
            @Nullable Boolean dryRun,
            @Nullable Boolean force) {}

    private void seek(Exchange exchange) throws Exception {
        Move move = exchange.body(Move.class);
        Place place = existing(exchange);
        if (move.to == null) {
            throw Problem.of("to", "say where to: beginning, now, offset:N, message:ID, or a time");
        }
        Start to = Start.parse(move.to);
        boolean dry = Boolean.TRUE.equals(move.dryRun);
        boolean force = Boolean.TRUE.equals(move.force);
        if (move.partition != null && (dry || !force)) {
            throw Problem.of("partition", "one partition is moved by force only, and without a dry run");
        }
        List<ConsumerGroupAdmin.Moved> moved;
        if (dry) {
            moved = admin.planSeek(place.group(), place.topic(), to);
        } else if (move.partition != null) {
            moved = admin.seekByForce(place.group(), place.topic(), move.partition, to);
        } else if (force) {
            moved = admin.seekByForce(place.group(), place.topic(), to);
        } else {
            moved = admin.seek(place.group(), place.topic(), to);
        }
        exchange.answer(200, Map.of("dryRun", dry, "partitions", moved));
    }

    /** Something that is done to a group. */
    @FunctionalInterface
    private interface Change {
        void of(String group, String topic);
    }

    private void change(Exchange exchange, Change change) throws Exception {
        Place place = existing(exchange);
        change.of(place.group(), place.topic());
        exchange.answer(204, null);
    }

    private Place existing(Exchange exchange) {
        Place place = Place.of(exchange, trunkline);
        if (admin.find(place.group(), place.topic()).isEmpty()) {
            throw place.isNot();
        }
        return place;
    }

    /** A dead letter as it is told. */
    record Letter(
            long id,
            int partition,
            long offset,
            long messageId,
            @Nullable String key,
            Map<String, String> headers,
            String contentType,
            @Nullable String text,
            @Nullable String base64,
            int attempts,
            String error,
            String stack,
            List<String> history,
            Instant buriedAt,
            boolean decided) {

        static Letter of(DeadLetter letter) {
            Optional<String> text = Output.text(letter.payload());
            return new Letter(
                    letter.id(),
                    letter.partition(),
                    letter.offset(),
                    letter.messageId(),
                    letter.key(),
                    letter.headers(),
                    letter.contentType(),
                    text.orElse(null),
                    text.isPresent() ? null : Base64.getEncoder().encodeToString(letter.payload()),
                    letter.attempts(),
                    letter.error(),
                    letter.stack(),
                    letter.history(),
                    letter.buriedAt(),
                    letter.decided());
        }
    }

    private DeadLetters letters(Place place) {
        return (place.group().isEmpty()
                        ? trunkline.createConsumer(place.topic(), byte[].class)
                        : trunkline.createConsumerGroup(place.group(), place.topic(), byte[].class))
                .deadLetters();
    }

    private void deadLetters(Exchange exchange) throws Exception {
        exchange.allowQuery("after", "limit");
        long after = exchange.query("after", 0, 0, Long.MAX_VALUE);
        int limit = (int) exchange.query("limit", PAGE, 1, LARGEST_PAGE);
        List<Letter> found = letters(existing(exchange)).list(after, limit + 1).stream()
                .map(Letter::of)
                .toList();
        exchange.answer(200, Page.of(found, limit, letter -> "" + letter.id()));
    }

    /** @param ids which dead letters; null: all */
    record Choice(@Nullable List<Long> ids) {}

    private void decide(Exchange exchange, boolean redrive) throws Exception {
        Choice choice = exchange.body(Choice.class);
        DeadLetters letters = letters(existing(exchange));
        if (choice.ids != null && choice.ids.contains(null)) {
            throw Problem.of("ids", "an id is null");
        }
        long decided;
        if (choice.ids == null) {
            decided = redrive ? letters.redriveAll() : letters.discardAll();
        } else {
            decided = redrive ? letters.redrive(choice.ids) : letters.discard(choice.ids);
        }
        exchange.answer(200, Map.of("decided", decided));
    }

    private void explain(Exchange exchange) throws Exception {
        Place place = existing(exchange);
        exchange.answer(200, Map.of("facts", admin.explain(place.group(), place.topic(), exchange.number("id"))));
    }

    private void audit(Exchange exchange) throws Exception {
        exchange.answer(200, Map.of("groups", admin.audit(exchange.path("topic"), exchange.number("id"))));
    }
}
