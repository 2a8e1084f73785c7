package dev.trunkline.server.http;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The keys of callers, for who may give them. */
final class KeyRoutes {

    private final Keys keys;

    KeyRoutes(Keys keys) {
        this.keys = keys;
    }

    List<Route> all() {
        return List.of(
                Route.of("GET", "/v1/keys", Verb.ADMIN, this::list),
                Route.of("POST", "/v1/keys", Verb.ADMIN, this::create),
                Route.of("DELETE", "/v1/keys/{id}", Verb.ADMIN, this::revoke));
    }

    /**
     * A key that is to be given.
     *
     * @param topics a pattern, as in {@code orders.*}; all, if nothing is said
     * @param expiresIn for how long it is good; for ever, if nothing is said
     */
    record Wish(
            @Nullable String name,
            @Nullable Set<Verb> verbs,
            @Nullable String topics,
            @Nullable String groups,
            @Nullable Duration expiresIn) {}

    private void list(Exchange exchange) throws Exception {
        exchange.answer(200, Map.of("items", keys.list()));
    }

    private void create(Exchange exchange) throws Exception {
        Wish wish = exchange.body(Wish.class);
        if (wish.name == null || wish.name.isBlank()) {
            throw Problem.of("name", "a key has a name");
        }
        if (wish.verbs == null || wish.verbs.isEmpty() || wish.verbs.contains(null)) {
            throw Problem.of("verbs", "a key allows something: " + List.of(Verb.values()));
        }
        if (wish.expiresIn != null && (wish.expiresIn.isNegative() || wish.expiresIn.isZero())) {
            throw Problem.of("expiresIn", "a key is good for some time");
        }
        exchange.answer(
                201,
                keys.create(
                        wish.name,
                        wish.verbs,
                        wish.topics == null ? "*" : wish.topics,
                        wish.groups == null ? "*" : wish.groups,
                        wish.expiresIn == null ? null : Instant.now().plus(wish.expiresIn)));
    }

    private void revoke(Exchange exchange) throws Exception {
        long id = exchange.number("id");
        if (id != (int) id || !keys.revoke((int) id)) {
            throw new Problem(404, "there is no key " + id + ", or it was revoked before");
        }
        exchange.answer(204, null);
    }
}
