package dev.trunkline.observability;

import dev.trunkline.Delivery;
import dev.trunkline.GroupListener;
import dev.trunkline.Observer;
import dev.trunkline.Trunkline;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Metrics through Micrometer: what this process does, and how the whole installation is. Tags are topics and groups that exist, and a few fixed words.
 *
 * {@snippet :
 * TrunklineMetrics metrics = new TrunklineMetrics(registry);
 * Trunkline trunkline = Trunkline.builder().dataSource(pool).observer(metrics).open();
 * metrics.watch(trunkline);
 * }
 *
 * <p>What is known of the whole installation is asked for when somebody looks, by one query, at most every five seconds. Without the database those gauges are gone,
 * {@code trunkline_up} is 0, and what this process knows by itself is still told.
 */
public final class TrunklineMetrics implements Observer {

    /** For what was not published to a topic that is known to exist: callers may name any number of them. */
    private static final String UNKNOWN = "unknown";

    /** Few, since there are as many curves for each group: enough to tell how long 95 of 100 handlers take. */
    private static final Duration[] BUCKETS = {
        Duration.ofMillis(1),
        Duration.ofMillis(5),
        Duration.ofMillis(25),
        Duration.ofMillis(100),
        Duration.ofMillis(500),
        Duration.ofSeconds(2),
        Duration.ofSeconds(10),
        Duration.ofMinutes(1)
    };

    private final MeterRegistry registry;
    private final Set<String> topics = ConcurrentHashMap.newKeySet();
    private final Map<Tags, GroupMeters> groups = new ConcurrentHashMap<>();
    private final AtomicReference<@Nullable Boolean> arriving = new AtomicReference<>();
    private volatile @Nullable InstallationGauges installation;

    public TrunklineMetrics(MeterRegistry registry) {
        this.registry = registry;
    }

    /** Begins to tell how the installation is. */
    public void watch(Trunkline trunkline) {
        installation = new InstallationGauges(registry, trunkline.admin()::figures);
    }

    /** Asks the database now, if the last answer is older than some seconds: before a scrape, so that it has groups and topics that are new. */
    public void refresh() {
        InstallationGauges gauges = installation;
        if (gauges != null) {
            gauges.refresh();
        }
    }

    @Override
    public Publishing publishing(String topic, int messages) {
        long began = System.nanoTime();
        return new Publishing() {
            @Override
            public void over(@Nullable Throwable problem) {
                boolean done = problem == null;
                if (done) {
                    topics.add(topic);
                }
                Tags tags = Tags.of("topic", topics.contains(topic) ? topic : UNKNOWN);
                timer("trunkline.publish", "Calls that publish", tags, done, System.nanoTime() - began);
                if (done) {
                    count("trunkline.published.messages", "Messages that were published", tags, messages);
                }
            }
        };
    }

    @Override
    public Attempt handling(Delivery<?> delivery) {
        long began = System.nanoTime();
        return new Attempt() {
            @Override
            public void over(@Nullable Throwable problem) {
                long nanos = System.nanoTime() - began;
                Tags tags = tags(delivery.group(), delivery.message().topic());
                timed("trunkline.handler", "Calls of handlers", tags, problem == null)
                        .serviceLevelObjectives(BUCKETS)
                        .register(registry)
                        .record(Duration.ofNanos(nanos));
            }
        };
    }

    @Override
    public List<GroupListener> listeners(String group, String topic) {
        return List.of(groups.computeIfAbsent(tags(group, topic), tags -> new GroupMeters(registry, tags))
                .started());
    }

    @Override
    public void relayed(String topic, long messages, Duration took) {
        Tags tags = Tags.of("topic", topic);
        Timer.builder("trunkline.relay")
                .description("Runs of the relay that gave messages their offsets")
                .tags(tags)
                .register(registry)
                .record(took);
        count("trunkline.relayed.messages", "Messages that the relay gave their offsets", tags, (double) messages);
    }

    @Override
    public void upkeep(Duration took, @Nullable Throwable problem) {
        timer("trunkline.upkeep", "Runs of upkeep", Tags.empty(), problem == null, took.toNanos());
    }

    @Override
    public void notified(boolean nowArriving) {
        if (arriving.getAndSet(nowArriving) == null) {
            Gauge.builder("trunkline.notifications.arriving", () -> Boolean.TRUE.equals(arriving.get()) ? 1 : 0)
                    .description(
                            "Whether notifications of other processes arrive; else they are noticed at the poll interval")
                    .register(registry);
        }
    }

    private void timer(String name, String description, Tags tags, boolean done, long nanos) {
        timed(name, description, tags, done).register(registry).record(Duration.ofNanos(nanos));
    }

    private static Timer.Builder timed(String name, String description, Tags tags, boolean done) {
        return Timer.builder(name).description(description).tags(tags.and("outcome", done ? "done" : "failed"));
    }

    private void count(String name, String description, Tags tags, double amount) {
        Counter.builder(name)
                .description(description)
                .tags(tags)
                .register(registry)
                .increment(amount);
    }

    private static Tags tags(String group, String topic) {
        return Tags.of("group", group, "topic", topic);
    }
}
