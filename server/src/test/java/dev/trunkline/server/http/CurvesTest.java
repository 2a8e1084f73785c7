package dev.trunkline.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.Message;
import dev.trunkline.RetryPolicy;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.Trunkline;
import dev.trunkline.observability.TrunklineMetrics;
import dev.trunkline.server.Cli;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** The dashboard, the alerts and the document speak of metrics that exist: of a server, or of an application with handlers. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(180)
class CurvesTest {

    private static final Path DOCS = Path.of("..", "docs");
    private static final Pattern NAME = Pattern.compile("\\b(trunkline|jvm|process|system)_[a-z0-9_]+");

    private final Set<String> scraped = new TreeSet<>();
    private Api api;

    @BeforeAll
    void scrape() throws Exception {
        String database = Cli.freshDatabase();
        api = Api.on(database);
        api.post("/v1/topics", "{\"name\": \"t\", \"partitions\": 1, \"semantics\": \"PUB_SUB\"}");
        api.put("/v1/topics/t/groups/pulled", "{\"start\": \"beginning\"}");
        api.post("/v1/topics/t/groups/pulled/pull", "{}");
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        TrunklineMetrics metrics = new TrunklineMetrics(registry);
        try (Trunkline application = Trunkline.builder()
                .url(
                        Cli.postgres().jdbcUrl(database),
                        Cli.postgres().user(),
                        Cli.postgres().password())
                .observer(metrics)
                .open()) {
            application
                    .createConsumerGroup("g", "t", String.class)
                    .addConsumer("a", delivery -> {
                        throw new IllegalStateException("always");
                    })
                    .start(SubscriptionOptions.fromBeginning()
                            .withRetry(new RetryPolicy(1, Duration.ofMillis(1), Duration.ofMillis(1))));
            application.publisher().publish(Message.of("t", "m"));
            try (var connection = Cli.postgres().dataSource(database).getConnection()) {
                application.publisher().publish(connection, Message.of("t", "m"));
            }
            application.upkeepNow();
            Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> {
                String text = registry.scrape() + api.get("/metrics").text(); // one of the two relays
                return text.contains("trunkline_handler_seconds_count")
                        && text.contains("trunkline_notifications_arriving")
                        && text.contains("trunkline_relay_seconds_count");
            });
            metrics.watch(application);
            metrics.refresh();
            add(registry.scrape());
        }
        System.gc(); // so that there is a pause to tell of
        Awaitility.await().until(() -> api.get("/metrics").text().contains("jvm_gc_pause_seconds_sum"));
        add(api.get("/metrics").text());
    }

    private void add(String scrape) {
        scrape.lines().filter(line -> !line.startsWith("#")).forEach(line -> scraped.add(line.split("[{ ]", 2)[0]));
    }

    @AfterAll
    void stop() {
        api.close();
    }

    private static Set<String> names(String text) {
        Set<String> names = new TreeSet<>();
        Matcher matcher = NAME.matcher(text);
        while (matcher.find()) {
            names.add(matcher.group());
        }
        return names;
    }

    /** All texts under fields of a name. */
    private static List<String> texts(JsonNode document, String field) {
        List<String> texts = new ArrayList<>();
        document.findValues(field).stream().filter(JsonNode::isString).forEach(value -> texts.add(value.asString()));
        return texts;
    }

    @Test
    void every_curve_of_the_dashboard_exists() throws Exception {
        JsonNode dashboard = new JsonMapper().readTree(Files.readString(DOCS.resolve("observability/grafana.json")));
        List<String> expressions = texts(dashboard, "expr");
        assertThat(expressions)
                .hasSizeGreaterThan(15)
                .allSatisfy(each -> assertThat(names(each)).isNotEmpty());
        expressions.addAll(texts(dashboard, "definition"));
        assertThat(scraped).containsAll(names(String.join("\n", expressions)));
        assertThat(texts(dashboard, "query")).contains("prometheus");
    }

    @Test
    void every_alert_is_about_something_that_exists() throws Exception {
        JsonNode rules = new YAMLMapper().readTree(Files.readString(DOCS.resolve("observability/alerts.yml")));
        List<String> expressions = texts(rules, "expr");
        assertThat(expressions)
                .hasSizeGreaterThan(8)
                .allSatisfy(each -> assertThat(names(each)).isNotEmpty());
        assertThat(scraped).containsAll(names(String.join("\n", expressions)));
        assertThat(texts(rules, "alert")).hasSameSizeAs(expressions).doesNotHaveDuplicates();
        assertThat(texts(rules, "summary")).hasSameSizeAs(expressions);
    }

    @Test
    void the_document_names_all_metrics_of_ours_and_no_others() throws Exception {
        Set<String> documented = new TreeSet<>();
        Files.readString(DOCS.resolve("observability.md"))
                .lines()
                .filter(line -> line.startsWith("| `trunkline_"))
                .forEach(line -> documented.addAll(names(line.split("\\|", -1)[1])));
        Set<String> ours = new TreeSet<>();
        scraped.stream()
                .filter(name -> name.startsWith("trunkline_"))
                .forEach(name -> ours.add(name.replaceAll("_seconds_(count|sum|max|bucket)$", "_seconds")));
        assertThat(documented).isEqualTo(ours);
    }
}
