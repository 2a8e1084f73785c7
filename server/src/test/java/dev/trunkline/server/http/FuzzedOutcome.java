package dev.trunkline.server.http;

import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.LongAdder;

/** What was answered, by all callers together; and what there must be in the end, if only what was taken is there. */
final class FuzzedOutcome {

    private static final int SHOWN = 20;

    final LongAdder requests = new LongAdder();
    final LongAdder unanswered = new LongAdder();
    /** Connections on which something may have been answered, and taken, that was not heard. */
    final LongAdder cutOff = new LongAdder();

    final LongAdder keys = new LongAdder();
    /** Made, less dropped, by name. */
    final Map<String, LongAdder> topics = new ConcurrentHashMap<>();

    final Set<String> groups = ConcurrentHashMap.newKeySet();
    /** Of each topic that only grows: taken for sure, and perhaps. */
    final Map<String, Taken> taken = new ConcurrentHashMap<>();

    private final Map<Integer, LongAdder> statuses = new ConcurrentHashMap<>();
    private final Map<Route, LongAdder> good = new ConcurrentHashMap<>();
    private final Map<Route, LongAdder> refused = new ConcurrentHashMap<>();
    private final Queue<String> flaws = new ConcurrentLinkedQueue<>();

    record Taken(LongAdder sure, LongAdder perhaps) {

        boolean fits(long count) {
            return count >= sure.sum() && count <= sure.sum() + perhaps.sum();
        }
    }

    Taken taken(String topic) {
        return taken.computeIfAbsent(topic, name -> new Taken(new LongAdder(), new LongAdder()));
    }

    void answered(Route route, int status) {
        statuses.computeIfAbsent(status, code -> new LongAdder()).increment();
        (status < 400 ? good : refused)
                .computeIfAbsent(route, its -> new LongAdder())
                .increment();
    }

    void topic(String name, int difference) {
        topics.computeIfAbsent(name, its -> new LongAdder()).add(difference);
    }

    void wrong(String flaw) {
        if (flaws.size() < SHOWN) {
            flaws.add(flaw);
        }
    }

    List<String> flaws() {
        return List.copyOf(flaws);
    }

    /** Routes of which nothing was ever taken, or nothing refused: nobody knows how they fare. */
    List<Route> idle(List<Route> routes) {
        return routes.stream()
                .filter(route -> !good.containsKey(route) || !refused.containsKey(route))
                .toList();
    }

    /** How many of each status. */
    Map<Integer, LongAdder> statuses() {
        return new TreeMap<>(statuses);
    }
}
