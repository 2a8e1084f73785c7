package dev.trunkline.consume;

import dev.trunkline.GroupListener;
import dev.trunkline.GroupMetrics;
import dev.trunkline.LogMessage;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Counts what happens in a group, and tells whoever listens. */
final class Monitor {

    private static final Logger log = LoggerFactory.getLogger(Monitor.class);
    private static final int SAMPLE = 16;
    private static final int MOST_KEYS = 10_000;
    private static final int SHOWN_KEYS = 10;

    private final Subject subject;
    private final List<GroupListener> listeners;
    private final LongAdder handled = new LongAdder();
    private final LongAdder failed = new LongAdder();
    private final LongAdder deadLettered = new LongAdder();
    private final LongAdder outOfOrder = new LongAdder();
    private final LongAdder nanos = new LongAdder();
    private final LongAccumulator longest = new LongAccumulator(Math::max, 0);
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Integer> keys = new HashMap<>();
    private long sampled;

    Monitor(Subject subject, List<GroupListener> listeners) {
        this.subject = subject;
        this.listeners = listeners;
    }

    void handled(LogMessage message, long took) {
        handled.increment();
        nanos.add(took);
        longest.accumulate(took);
        String key = message.key();
        if (key != null && message.offset() % SAMPLE == 0) {
            sample(key);
        }
        if (!listeners.isEmpty()) {
            tell(to -> to.handled(message, Duration.ofNanos(took)));
        }
    }

    private void sample(String key) {
        lock.lock();
        try {
            sampled++;
            keys.merge(key, 1, Integer::sum);
            if (keys.size() > MOST_KEYS) {
                // Rare keys go; what is left of the others keeps its share.
                keys.values().removeIf(count -> count == 1);
                keys.replaceAll((k, count) -> count / 2);
                sampled /= 2;
            }
        } finally {
            lock.unlock();
        }
    }

    void failed(LogMessage message, int attempt, Throwable problem) {
        failed.increment();
        tell(to -> to.failed(message, attempt, problem));
    }

    void deadLettered(LogMessage message, String error) {
        deadLettered.increment();
        tell(to -> to.deadLettered(message, error));
    }

    void outOfOrder(LogMessage message) {
        outOfOrder.increment();
        tell(to -> to.outOfOrder(message));
    }

    void tell(Consumer<GroupListener> event) {
        for (GroupListener listener : listeners) {
            try {
                event.accept(listener);
            } catch (Throwable e) { // whatever it throws is nothing to the group
                subject.of(log.atWarn()).setCause(e).log("a listener failed");
            }
        }
    }

    GroupMetrics metrics(long underWay, boolean failing, Map<Integer, Long> lag) {
        long count = handled.sum();
        return new GroupMetrics(
                count,
                failed.sum(),
                deadLettered.sum(),
                outOfOrder.sum(),
                Duration.ofNanos(count == 0 ? 0 : nanos.sum() / count),
                Duration.ofNanos(longest.get()),
                underWay,
                failing,
                lag,
                hottest());
    }

    private Map<String, Double> hottest() {
        lock.lock();
        try {
            Map<String, Double> hottest = new LinkedHashMap<>();
            keys.entrySet().stream()
                    .sorted(Map.Entry.comparingByValue(Comparator.reverseOrder()))
                    .limit(SHOWN_KEYS)
                    .forEach(entry -> hottest.put(entry.getKey(), 100.0 * entry.getValue() / sampled));
            return hottest;
        } finally {
            lock.unlock();
        }
    }
}
