package dev.trunkline.server.http;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The keys of callers, for who may give them. */
final class KeyRoutes {

    private static final String KEYS = "/v1/keys";
    private static final Duration LONGEST_TIME = Duration.ofDays(10_000);

    private final ApiKeys keys;

    KeyRoutes(ApiKeys keys) {
        this.keys = keys;
    }

    List<Route> all() {
        return List.of(
                Route.of("GET", KEYS, Verb.ADMIN, "lists keys; not what they are called by", this::list)
                        .answers(Route.OK, Page.of(ApiKeys.ApiKey.class)),
                Route.of("POST", KEYS, Verb.ADMIN, "gives a key, which is shown once", this::create)
                        .takes(NewKey.class)
                        .answers(Route.CREATED, ApiKeys.CreatedKey.class),
                Route.of("DELETE", KEYS + "/{id}", Verb.ADMIN, "revokes a key", this::revoke)
                        .answersNothing());
    }

    /**
     * A key that is to be given.
     *
     * @param topics a pattern, as in {@code orders.*}; all, if nothing is said
     * @param expiresIn for how long it is good; for ever, if nothing is said
     */
    record NewKey(
            @Nullable String name,
            @Nullable Set<Verb> verbs,
            @Nullable String topics,
            @Nullable String groups,
            @Nullable Duration expiresIn) {}

    private void list(Exchange exchange) throws Exception {
        exchange.answer(Route.OK, Page.all(keys.list()));
    }

    private void create(Exchange exchange) throws Exception {
        NewKey wish = exchange.body(NewKey.class);
        if (wish.verbs == null || wish.verbs.isEmpty() || wish.verbs.contains(null)) {
            throw Problem.of("verbs", "a key allows something: " + List.of(Verb.values()));
        }
        exchange.answer(
                Route.CREATED,
                keys.create(
                        checked("name", wish.name == null ? "" : wish.name),
                        wish.verbs,
                        checked("topics", wish.topics == null ? "*" : wish.topics),
                        checked("groups", wish.groups == null ? "*" : wish.groups),
                        wish.expiresIn == null ? null : Said.positive(LONGEST_TIME, "expiresIn", wish.expiresIn)));
    }

    private static String checked(String field, String text) {
        Problem.require(!text.isBlank(), field, "it is empty");
        return Said.name(field, text);
    }

    private void revoke(Exchange exchange) throws Exception {
        long id = exchange.number("id");
        if (id != (int) id || !keys.revoke((int) id)) {
            throw new Problem(404, "there is no key " + id + ", or it was revoked before").with("field", "id");
        }
        exchange.answer(Route.NO_CONTENT, null);
    }
}
