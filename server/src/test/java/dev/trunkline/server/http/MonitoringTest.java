package dev.trunkline.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.rig.FaultProxy;
import dev.trunkline.server.Address;
import dev.trunkline.server.Cli;
import java.net.http.HttpRequest.BodyPublishers;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Metrics over HTTP, and the trace of a caller. */
@Timeout(180)
class MonitoringTest {

    private static final String TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    @Test
    void requests_are_counted_by_the_template_of_their_route() throws Exception {
        try (Api api = Api.start()) {
            api.get("/v1/topics/none/messages");
            api.get("/v1/topics/other/messages");
            api.get("/made/up");
            api.send("BREW", "/v1/topics", BodyPublishers.noBody(), null);
            // A caller may have his answer a moment before it is counted.
            Awaitility.await()
                    .untilAsserted(
                            () -> assertThat(api.get("/metrics").text().lines())
                                    .contains(
                                            "trunkline_http_requests_seconds_count{method=\"GET\",route=\"/v1/topics/{topic}/messages\",status=\"404\"} 2",
                                            "trunkline_http_requests_seconds_count{method=\"none\",route=\"none\",status=\"404\"} 1",
                                            "trunkline_http_requests_seconds_count{method=\"none\",route=\"none\",status=\"405\"} 1"));
            Awaitility.await().untilAsserted(() -> {
                Api.Answer scrape = api.get("/metrics");
                assertThat(scrape.type()).isEqualTo("text/plain; version=0.0.4; charset=utf-8");
                assertThat(scrape.text())
                        .contains("trunkline_up 1.0", "jvm_memory_used_bytes", "jvm_threads_live_threads");
            });
            assertThat(api.as(null).get("/metrics").status()).isEqualTo(401);
        }
    }

    @Test
    void while_the_database_is_away_who_read_before_still_reads_and_nobody_else() throws Exception {
        String database = Cli.freshDatabase();
        try (FaultProxy line = new FaultProxy(Cli.postgres().port());
                Api api = Api.on(Address.of(
                        line.jdbcUrl(database),
                        Cli.postgres().user(),
                        Cli.postgres().password(),
                        "trunkline"))) {
            Awaitility.await()
                    .untilAsserted(() ->
                            assertThat(api.get("/metrics").text()).contains("trunkline_up 1.0", "trunkline_sessions"));
            line.refuse(true);
            line.cutNow();
            Awaitility.await().atMost(Duration.ofMinutes(1)).untilAsserted(() -> {
                Api.Answer scrape = api.get("/metrics");
                assertThat(scrape.status()).isEqualTo(200);
                assertThat(scrape.text())
                        .contains("trunkline_up 0.0", "jvm_memory_used_bytes")
                        .doesNotContain("trunkline_sessions ");
            });
            assertThat(api.as("tl_" + "a".repeat(43)).get("/metrics").status()).isEqualTo(503);
            assertThat(api.get("/v1/topics").status()).isEqualTo(503);
            line.refuse(false);
            Awaitility.await()
                    .atMost(Duration.ofMinutes(1))
                    .until(() -> api.get("/metrics").text().contains("trunkline_up 1.0"));
        }
    }

    @Test
    void what_is_published_carries_the_callers_trace_unless_it_has_one() throws Exception {
        try (Api api = Api.start()) {
            api.post("/v1/topics", "{\"name\": \"t\", \"partitions\": 1}");
            publish(api, "[{\"text\": \"a\"}, {\"text\": \"b\", \"headers\": {\"traceparent\": \"own\"}}]", TRACE);
            api.send(
                    "POST",
                    "/v1/topics/t/messages",
                    BodyPublishers.ofString("{\"text\": \"line\"}\n"),
                    "application/x-ndjson",
                    "traceparent",
                    TRACE,
                    "tracestate",
                    "vendor=1");
            for (String bad : List.of(
                    "00-00000000000000000000000000000000-b7ad6b7169203331-01",
                    "ff" + TRACE.substring(2),
                    TRACE + "-more",
                    "made up")) {
                publish(api, "{\"text\": \"bad\"}", bad);
            }
            List<String> headers = api.get("/v1/topics/t/messages?from=0")
                    .json()
                    .at("/messages")
                    .valueStream()
                    .map(message -> message.get("headers").toString())
                    .toList();
            assertThat(headers)
                    .containsExactly(
                            "{\"traceparent\":\"" + TRACE + "\"}",
                            "{\"traceparent\":\"own\"}",
                            "{\"traceparent\":\"" + TRACE + "\",\"tracestate\":\"vendor=1\"}",
                            "{}",
                            "{}",
                            "{}",
                            "{}");
        }
    }

    private static void publish(Api api, String body, String trace) throws Exception {
        assertThat(api.send(
                                "POST",
                                "/v1/topics/t/messages",
                                BodyPublishers.ofString(body),
                                "application/json",
                                "traceparent",
                                trace)
                        .status())
                .isEqualTo(201);
    }
}
