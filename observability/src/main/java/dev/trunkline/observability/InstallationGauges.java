package dev.trunkline.observability;

import dev.trunkline.ConsumerGroupAdmin.Figure;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gauges of the whole installation. Who looks has them asked for, if the last answer is old, and waits for a moment only: a database that does not answer must not keep
 * the rest from being told. One question is under way at a time, and is waited for once: whoever looks when its time is over hears at once that there is no answer yet.
 */
final class InstallationGauges {

    private static final Logger log = LoggerFactory.getLogger(InstallationGauges.class);
    private static final Duration FRESH = Duration.ofSeconds(5);
    /** Prometheus gives up after ten seconds, of which some are gone before: whose key it is, is asked the same database. */
    private static final Duration PATIENCE = Duration.ofSeconds(3);

    private static final Executor THREAD =
            task -> Thread.ofVirtual().name("trunkline-metrics").start(task);

    /** What each figure of {@code trunkline.metrics} is, in its words. */
    static final Map<String, String> DESCRIPTIONS = Map.ofEntries(
            Map.entry("group_lag_messages", "Messages in the log that the group has not done"),
            Map.entry(
                    "group_lag_seconds", "Age of the oldest message that the group has not done, parked ones included"),
            Map.entry(
                    "group_done_messages",
                    "Messages that the group has done, or that lay before where it began or was moved to"),
            Map.entry("group_parked_messages", "Messages that wait aside for a blocked key"),
            Map.entry(
                    "group_dead_letters",
                    "Messages that the group has given up, and that nobody has redriven or discarded"),
            Map.entry("group_members", "Processes that serve the group"),
            Map.entry("group_open_batches", "Batches that were pulled and are not settled"),
            Map.entry("group_expired_batches", "Those of them whose lease is over"),
            Map.entry(
                    "group_health", "0 healthy, 1 unattended, 2 near timeout, 3 stalled, 4 flapping, 5 paused, 6 dead"),
            Map.entry(
                    "group_timeout_ratio",
                    "How much of the time without a member after which the group is dead has passed"),
            Map.entry("topic_appended_messages", "Messages that were ever appended to the topic"),
            Map.entry("topic_segments", "Segments of the topic"),
            Map.entry("topic_bytes", "What the topic takes on disk"),
            Map.entry("topic_overdue_segments", "Segments that could be dropped and are still there"),
            Map.entry("topic_pinned_bytes", "What a group keeps from being dropped though its retention is over"),
            Map.entry("outbox_messages", "Messages that are committed, and due, and have no offset yet"),
            Map.entry("outbox_age_seconds", "Age of the oldest of them"),
            Map.entry("relay_mark_age_seconds", "Time since the relay last noted how far it has come"),
            Map.entry("upkeep_age_seconds", "Time since somebody last took or kept the turn to do the upkeep"),
            Map.entry("oldest_transaction_seconds", "Age of the oldest transaction in the database"),
            Map.entry("sessions", "Processes that consume"));

    private final MeterRegistry registry;
    private final Supplier<List<Figure>> question;
    private final Map<String, MultiGauge> gauges;
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable CompletableFuture<List<Figure>> asked;
    private long askedAt;
    /** Whether its answer, or failure, is shown. */
    private boolean told;

    private volatile boolean up;
    private volatile Map<Place, Double> values = Map.of();

    private record Place(String name, String topic, String group) {
        static Place of(Figure figure) {
            return new Place(figure.name(), figure.topic(), figure.group());
        }
    }

    InstallationGauges(MeterRegistry registry, Supplier<List<Figure>> question) {
        this.registry = registry;
        this.question = question;
        this.gauges = DESCRIPTIONS.entrySet().stream().collect(Collectors.toMap(Map.Entry::getKey, this::gauge));
        Gauge.builder("trunkline.up", this, InstallationGauges::look)
                .description("Whether the database has said how the installation is")
                .strongReference(true)
                .register(registry);
    }

    private MultiGauge gauge(Map.Entry<String, String> described) {
        return MultiGauge.builder("trunkline." + described.getKey().replace('_', '.'))
                .description(described.getValue())
                .register(registry);
    }

    private double look() {
        refresh();
        return up ? 1 : 0;
    }

    void refresh() {
        lock.lock();
        try {
            long age = System.nanoTime() - askedAt;
            if (asked == null || (asked.isDone() && age >= FRESH.toNanos())) {
                askedAt = System.nanoTime();
                age = 0;
                told = false;
                asked = CompletableFuture.supplyAsync(question, THREAD);
            }
            if (!told) {
                tell(asked, Math.max(0, PATIENCE.toNanos() - age));
            }
        } finally {
            lock.unlock();
        }
    }

    private void tell(CompletableFuture<List<Figure>> answer, long nanos) {
        try {
            show(answer.get(nanos, TimeUnit.NANOSECONDS));
            up = true;
            told = true;
        } catch (ExecutionException e) {
            showNothing(e);
            told = true;
        } catch (TimeoutException e) {
            showNothing(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void showNothing(Exception why) {
        log.debug("the database has not said how the installation is", why);
        up = false;
        show(List.of());
    }

    /** A gauge that stays reads its next value in the same place. */
    private void show(List<Figure> figures) {
        values = figures.stream().collect(Collectors.toMap(Place::of, Figure::value));
        Map<String, List<MultiGauge.Row<?>>> rows = figures.stream()
                .collect(Collectors.groupingBy(
                        Figure::name,
                        Collectors.mapping(figure -> row(figure, Place.of(figure)), Collectors.toList())));
        gauges.forEach((name, gauge) -> gauge.register(rows.getOrDefault(name, List.of())));
    }

    private MultiGauge.Row<?> row(Figure figure, Place place) {
        return MultiGauge.Row.of(tags(figure), () -> values.getOrDefault(place, Double.NaN));
    }

    private static Tags tags(Figure figure) {
        Tags tags = figure.topic().isEmpty() ? Tags.empty() : Tags.of("topic", figure.topic());
        return figure.group().isEmpty() ? tags : tags.and("group", figure.group());
    }
}
