package dev.trunkline.server.http;

import dev.trunkline.Observer;
import dev.trunkline.Trunkline;
import dev.trunkline.observability.TrunklineMetrics;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** The meters of this server: Trunkline's, those of requests, the JVM's; and where they are read. */
final class Monitoring implements AutoCloseable {

    private static final String PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8";

    private static final String PATH = "/metrics";

    /** A pull may wait for half a minute. */
    private static final Duration[] BUCKETS = {
        Duration.ofMillis(5),
        Duration.ofMillis(25),
        Duration.ofMillis(100),
        Duration.ofMillis(500),
        Duration.ofSeconds(2),
        Duration.ofSeconds(10),
        Duration.ofSeconds(31)
    };

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final TrunklineMetrics metrics = new TrunklineMetrics(registry);
    private final JvmGcMetrics collections = new JvmGcMetrics();

    Monitoring() {
        new JvmMemoryMetrics().bindTo(registry);
        collections.bindTo(registry);
        new JvmThreadMetrics().bindTo(registry);
        new ProcessorMetrics().bindTo(registry);
        new UptimeMetrics().bindTo(registry);
    }

    Observer observer() {
        return metrics;
    }

    void watch(Trunkline trunkline) {
        metrics.watch(trunkline);
    }

    Route route() {
        return Route.of("GET", PATH, Verb.READ, "tells what Prometheus wants to know", exchange -> {
                    metrics.refresh();
                    exchange.answer(
                            Route.OK, PROMETHEUS, registry.scrape(PROMETHEUS).getBytes(StandardCharsets.UTF_8));
                })
                .answers(Route.OK, PROMETHEUS, String.class);
    }

    boolean isOf(Route route) {
        return route.template().equals(PATH);
    }

    /**
     * A request was answered.
     *
     * @param route its template: what callers write instead of its names would make any number of curves
     */
    void answered(String method, String route, int status, Duration took) {
        Timer.builder("trunkline.http.requests")
                .description("Requests")
                .tags("method", method, "route", route, "status", Integer.toString(status))
                .serviceLevelObjectives(BUCKETS)
                .register(registry)
                .record(took);
    }

    @Override
    public void close() {
        collections.close();
        registry.close();
    }
}
