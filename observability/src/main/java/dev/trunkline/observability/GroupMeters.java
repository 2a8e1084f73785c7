package dev.trunkline.observability;

import dev.trunkline.GroupListener;
import dev.trunkline.LogMessage;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * What happens in a group in this process, however often it is started: a registry keeps the first gauge of a name. All of it is there from the beginning: a counter that
 * appears with its first event has no rate.
 */
final class GroupMeters {

    private final AtomicInteger held = new AtomicInteger();
    private final AtomicInteger failing = new AtomicInteger();
    private final Counter handled;
    private final Counter failed;
    private final Counter deadLettered;
    private final Counter outOfOrder;
    private final Counter taken;
    private final Counter left;

    GroupMeters(MeterRegistry registry, Tags tags) {
        this.handled =
                counter(registry, tags, "handled.messages", "Messages that were handled, or let pass by a filter");
        this.failed = counter(registry, tags, "failed.attempts", "Attempts that failed");
        this.deadLettered = counter(registry, tags, "dead.lettered.messages", "Messages that were given up");
        this.outOfOrder = counter(
                registry, tags, "out.of.order.messages", "Messages that were handled after a later one of their key");
        this.taken = counter(registry, tags, "partitions.taken", "Partitions that this process took");
        this.left = counter(registry, tags, "partitions.left", "Partitions that this process handed over or lost");
        Gauge.builder("trunkline.partitions.held", held, AtomicInteger::get)
                .description("Partitions that this process owns")
                .tags(tags)
                .strongReference(true)
                .register(registry);
        Gauge.builder("trunkline.handler.failing", failing, starts -> Math.min(1, starts.get()))
                .description("Whether most messages fail, so that the group goes slowly")
                .tags(tags)
                .strongReference(true)
                .register(registry);
    }

    private static Counter counter(MeterRegistry registry, Tags tags, String name, String description) {
        return Counter.builder("trunkline." + name)
                .description(description)
                .tags(tags)
                .register(registry);
    }

    /** For a start of the group: what it holds, and whether it fails, is its own. When it is closed it has left what it held, and fails no more. */
    GroupListener started() {
        return new Start();
    }

    private final class Start implements GroupListener {

        private final Set<Integer> mine = ConcurrentHashMap.newKeySet();
        private final AtomicBoolean ill = new AtomicBoolean();

        @Override
        public void handled(LogMessage message, Duration took) {
            handled.increment();
        }

        @Override
        public void failed(LogMessage message, int attempt, Throwable problem) {
            failed.increment();
        }

        @Override
        public void deadLettered(LogMessage message, String error) {
            deadLettered.increment();
        }

        @Override
        public void outOfOrder(LogMessage message) {
            outOfOrder.increment();
        }

        @Override
        public void failing(boolean now) {
            if (ill.getAndSet(now) != now) {
                failing.addAndGet(now ? 1 : -1);
            }
        }

        @Override
        public void taken(int partition, long epoch) {
            if (mine.add(partition)) {
                held.incrementAndGet();
            }
            taken.increment();
        }

        @Override
        public void left(int partition) {
            if (mine.remove(partition)) {
                held.decrementAndGet();
            }
            left.increment();
        }
    }
}
