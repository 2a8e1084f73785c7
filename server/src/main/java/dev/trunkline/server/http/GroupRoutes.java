package dev.trunkline.server.http;

import dev.trunkline.ConsumerGroupAdmin;
import dev.trunkline.ConsumerGroupAdmin.GroupState;
import dev.trunkline.ConsumerGroupException;
import dev.trunkline.GroupStatus;
import dev.trunkline.Start;
import dev.trunkline.Trunkline;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Groups, whoever serves them: how they are, where they are moved, what they have given up, and why a message is where it is. */
final class GroupRoutes {

    private static final String GROUP = "/v1/topics/{topic}/groups/{group}";

    private final Trunkline trunkline;
    private final ConsumerGroupAdmin admin;

    GroupRoutes(Trunkline trunkline) {
        this.trunkline = trunkline;
        this.admin = trunkline.admin();
    }

    List<Route> all() {
        return List.of(
                Route.of("GET", "/v1/groups", Verb.READ, "lists groups, by topic and name", this::list)
                        .query(Page.AFTER_TEXT, Page.LIMIT)
                        .answers(Route.OK, Page.of(Group.class)),
                Route.of("GET", GROUP, Verb.READ, "tells how a group is", this::get)
                        .answers(Route.OK, Group.class),
                Route.of("GET", GROUP + "/lag", Verb.READ, "tells how far behind a group is, by partition", this::lag)
                        .answers(Route.OK, Page.of(ConsumerGroupAdmin.Lag.class)),
                Route.of("POST", GROUP + "/seek", Verb.ADMIN, "moves a group, or tells what that would do", this::seek)
                        .takes(Seek.class)
                        .answers(Route.OK, Sought.class),
                changing("pause", "pauses a group; it keeps its place", admin::pause),
                changing("resume", "lets a paused group go on", admin::resume),
                changing("cancel", "ends a group for good", admin::cancel),
                Route.of("GET", GROUP + "/explain/{id}", Verb.READ, "tells why a message is where it is", this::explain)
                        .answers(Route.OK, Explained.class),
                Route.of(
                                "GET",
                                "/v1/topics/{topic}/messages/{id}/audit",
                                Verb.READ,
                                "tells which groups, of those that the caller may see, have handled a message, and who is missing",
                                this::audit)
                        .answers(Route.OK, Audited.class));
    }

    private Route changing(String what, String says, Change change) {
        return Route.of("POST", GROUP + "/" + what, Verb.ADMIN, says, exchange -> change(exchange, change))
                .answersNothing();
    }

    /** A group as it is told. */
    record Group(
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

        static Group of(GroupState group) {
            return new Group(
                    group.name(),
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
        String after = exchange.text(Page.AFTER_TEXT).map(GroupRoutes::decoded).orElse("");
        int limit = (int) exchange.number(Page.LIMIT);
        List<GroupState> found = admin.groups().stream()
                .filter(group -> order(group).compareTo(after) > 0)
                .sorted(Comparator.comparing(GroupRoutes::order))
                .limit(limit + 1L)
                .toList();
        Page<GroupState> page = Page.of(found, limit, GroupRoutes::encoded);
        exchange.answer(
                Route.OK, new Page<>(page.items().stream().map(Group::of).toList(), page.next()));
    }

    /** Topic, then group. */
    private static String order(GroupState group) {
        return group.topic() + '\0' + group.name();
    }

    private static String encoded(GroupState last) {
        return Base64.getUrlEncoder()
                .withoutPadding()
                .encodeToString(order(last).getBytes(StandardCharsets.UTF_8));
    }

    private static String decoded(String after) {
        try {
            String place = new String(Base64.getUrlDecoder().decode(after), StandardCharsets.UTF_8);
            Problem.require(place.indexOf('\0') > 0, "after", "it is not where a page ended");
            return place;
        } catch (IllegalArgumentException e) {
            throw Problem.of("after", "it is not where a page ended");
        }
    }

    private void get(Exchange exchange) throws Exception {
        Place place = Place.of(exchange);
        exchange.answer(
                Route.OK,
                admin.find(place.group(), place.topic()).map(Group::of).orElseThrow(() -> place.isNot(trunkline)));
    }

    private void lag(Exchange exchange) throws Exception {
        Place place = existing(exchange);
        exchange.answer(Route.OK, Page.all(admin.lag(place.group(), place.topic())));
    }

    /**
     * Where a group is to be moved.
     *
     * @param to as in {@code beginning}, {@code now}, {@code offset:5}, {@code message:7}, or a time
     * @param partition only this one
     * @param dryRun only tell what it would do
     * @param force also if it runs
     */
    record Seek(
            @Nullable String to,
            @Nullable Integer partition,
            @Nullable Boolean dryRun,
            @Nullable Boolean force) {}

    private void seek(Exchange exchange) throws Exception {
        Seek move = exchange.body(Seek.class);
        Place place = existing(exchange);
        if (move.to == null) {
            throw Problem.of("to", "say where to: beginning, now, offset:N, message:ID, or a time");
        }
        Start to = PullRoutes.place("to", move.to);
        boolean dry = Boolean.TRUE.equals(move.dryRun);
        boolean force = Boolean.TRUE.equals(move.force);
        if (move.partition != null && (dry || !force)) {
            throw Problem.of("partition", "one partition is moved by force only, and without a dry run");
        }
        if (move.partition != null) {
            int partitions = trunkline
                    .topics()
                    .find(place.topic())
                    .orElseThrow(() -> place.isNot(trunkline))
                    .partitions();
            Said.within(0, partitions - 1L, "partition", move.partition);
        }
        try {
            exchange.answer(Route.OK, new Sought(dry, seek(place, move.partition, to, dry, force)));
        } catch (ConsumerGroupException e) {
            throw PullRoutes.refused(e, "to");
        }
    }

    private List<ConsumerGroupAdmin.Moved> seek(
            Place place, @Nullable Integer partition, Start to, boolean dry, boolean force) {
        if (dry) {
            return admin.planSeek(place.group(), place.topic(), to);
        }
        if (partition != null) {
            return admin.seekByForce(place.group(), place.topic(), partition, to);
        }
        return force
                ? admin.seekByForce(place.group(), place.topic(), to)
                : admin.seek(place.group(), place.topic(), to);
    }

    record Sought(boolean dryRun, List<ConsumerGroupAdmin.Moved> partitions) {}

    /** Something that is done to a group. */
    @FunctionalInterface
    private interface Change {
        void of(String group, String topic);
    }

    private void change(Exchange exchange, Change change) throws Exception {
        Place place = existing(exchange);
        change.of(place.group(), place.topic());
        exchange.answer(Route.NO_CONTENT, null);
    }

    private Place existing(Exchange exchange) {
        return Place.existing(exchange, trunkline);
    }

    record Explained(List<ConsumerGroupAdmin.Fact> facts) {}

    private void explain(Exchange exchange) throws Exception {
        Place place = existing(exchange);
        exchange.answer(Route.OK, new Explained(admin.explain(place.group(), place.topic(), exchange.number("id"))));
    }

    record Audited(List<ConsumerGroupAdmin.Handled> groups) {}

    private void audit(Exchange exchange) throws Exception {
        List<ConsumerGroupAdmin.Handled> groups;
        try {
            groups = admin.audit(exchange.path("topic"), exchange.number("id"));
        } catch (ConsumerGroupException e) {
            throw new Problem(404, String.valueOf(e.getMessage())).with("field", "id");
        }
        exchange.answer(
                Route.OK,
                new Audited(groups.stream()
                        .filter(its -> exchange.caller().sees(its.group()))
                        .toList()));
    }
}
