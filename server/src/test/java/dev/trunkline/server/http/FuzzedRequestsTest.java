package dev.trunkline.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.server.Address;
import dev.trunkline.server.Cli;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;

/**
 * Requests to every route, changed at random: none of them is a mistake of the server, every refusal is a problem document as told, and in the end there is what
 * was taken and nothing else. {@code -Dseed=N} sends the same again, {@code -Drequests=N} as many. See docs/fuzzing.md.
 */
class FuzzedRequestsTest {

    private static final long SOME = 20_000;
    private static final long MANY = 1_000_000;
    private static final long SEED = 1;
    private static final int CALLERS = 12;

    @Test
    @Timeout(300)
    void what_is_changed_at_random_is_taken_or_refused_and_only_what_is_taken_is_there() throws Exception {
        fuzz(SOME);
    }

    @Test
    @Tag("long")
    @Timeout(3_600)
    void a_million_of_them() throws Exception {
        fuzz(Long.getLong("requests", MANY));
    }

    private static void fuzz(long count) throws Exception {
        long seed = Long.getLong("seed", SEED);
        Address address = Api.address(Cli.freshDatabase());
        FuzzedOutcome outcome = new FuzzedOutcome();
        try (Api api = Api.on(address)) {
            ApiKeys keys = new ApiKeys(address::connect, address.schema());
            FuzzedRequests requests = new FuzzedRequests(api.routes());
            List<FuzzedCaller> callers = new ArrayList<>();
            for (int i = 0; i < CALLERS; i++) {
                String name = Long.toHexString(0x9E3779B97F4A7C15L * (i + 1));
                callers.add(new FuzzedCaller(api, new FuzzedScene(api, keys, outcome, name), requests, outcome));
            }
            long began = System.nanoTime();
            try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
                for (int i = 0; i < CALLERS; i++) {
                    int caller = i;
                    threads.execute(() -> callers.get(caller).run(seed, caller, (count + CALLERS - 1) / CALLERS));
                }
            }
            double seconds = (System.nanoTime() - began) / 1e9;
            System.out.printf(
                    "seed %d: %,d fuzzed requests in %.0f s, %,.0f in a second, %,d without an answer, %,d cut off; answered with %s%n",
                    seed,
                    outcome.requests.sum(),
                    seconds,
                    outcome.requests.sum() / seconds,
                    outcome.unanswered.sum(),
                    outcome.cutOff.sum(),
                    outcome.statuses());
            System.out.printf("messages taken: %s%n", outcome.taken.values());
            assertThat(outcome.flaws()).isEmpty();
            assertThat(outcome.requests.sum()).isGreaterThanOrEqualTo(count);
            assertThat(outcome.idle(api.routes())).isEmpty();
            requireOnlyWhatWasTaken(
                    api.as(keys.create("looking", EnumSet.allOf(Verb.class), "*", "*", null)
                            .key()),
                    address,
                    outcome);
        }
    }

    private static void requireOnlyWhatWasTaken(Api api, Address address, FuzzedOutcome outcome) throws Exception {
        assertThat(api.get("/ready").status()).isEqualTo(200);
        Map<String, Long> there = new HashMap<>();
        outcome.topics.forEach((name, count) -> there.put(name, count.sum()));
        there.values().removeIf(count -> count == 0);
        Map<String, Long> told = new HashMap<>();
        all(api, "/v1/topics").forEach(topic -> told.put(topic.path("name").asString(), 1L));
        assertThat(told).isEqualTo(there);
        assertThat(all(api, "/v1/groups").stream()
                        .map(group -> group.path("topic").asString() + "\n"
                                + group.path("group").asString()))
                .isSubsetOf(outcome.groups);
        // And the first one, and that with which it is asked.
        assertThat(api.get("/v1/keys").json().path("items").size()).isEqualTo(outcome.keys.sum() + 2);
        outcome.taken.forEach((topic, taken) -> {
            long count = messages(address, topic);
            assertThat(taken.fits(count))
                    .as("%s has %d, and %s were taken", topic, count, taken)
                    .isTrue();
        });
    }

    private static List<JsonNode> all(Api api, String path) throws Exception {
        List<JsonNode> all = new ArrayList<>();
        String next = "";
        do {
            JsonNode page = api.get(path + "?limit=1000" + next).json();
            page.path("items").forEach(all::add);
            next = page.path("next").isNull()
                    ? ""
                    : "&after=" + Api.encode(page.path("next").asString());
        } while (!next.isEmpty());
        return all;
    }

    /** In the log, on the way there, and for later. */
    private static long messages(Address address, String topic) {
        try (Connection connection = address.connect();
                ResultSet row = connection.createStatement().executeQuery("""
                select count(distinct id) from (
                    select m.id from trunkline.messages m where m.topic = '%1$s'
                    union all
                    select o.id from trunkline.outbox o join trunkline.topic t on t.id = o.topic where t.name = '%1$s'
                    union all
                    select d.id from trunkline.delayed d join trunkline.topic t on t.id = d.topic where t.name = '%1$s') all_of_them
                """.formatted(topic))) {
            row.next();
            return row.getLong(1);
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }
}
