package dev.trunkline.testing;

import dev.trunkline.Delivery;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * When handlers started which message, in the order in which they did, and whether that keeps P3 and P5. The text of a message is its
 * number within its key, from 0 on. Threads may record at the same time; checking comes after.
 */
public final class Starts {

    /** @param at when, by {@code nanoTime} */
    public record Start(String process, String group, String key, int number, int partition, long epoch, long at) {}

    private final Queue<Start> starts = new ConcurrentLinkedQueue<>();
    private final Map<String, Set<String>> messages = new ConcurrentHashMap<>();

    public void add(String process, Delivery<String> delivery) {
        starts.add(new Start(
                process,
                delivery.group(),
                String.valueOf(delivery.key()),
                Integer.parseInt(delivery.payload()),
                delivery.message().partition(),
                delivery.epoch(),
                System.nanoTime()));
        messages.computeIfAbsent(delivery.group(), group -> ConcurrentHashMap.newKeySet())
                .add(delivery.key() + "/" + delivery.payload());
    }

    public List<Start> all() {
        return List.copyOf(starts);
    }

    /** How many different messages a group has started. */
    public long count(String group) {
        return messages.getOrDefault(group, Set.of()).size();
    }

    /** What a group that was to start so many messages of each key did against P3 and P5. */
    public List<String> violations(String group, Map<String, Integer> published) {
        List<String> found = new ArrayList<>();
        Map<String, Integer> furthest = new HashMap<>();
        Map<String, Integer> last = new HashMap<>();
        Set<String> seen = new HashSet<>();
        for (Start start : starts) {
            if (!start.group().equals(group)) {
                continue;
            }
            if (start.number() > furthest.getOrDefault(start.key(), -1) + 1) {
                found.add("skipped something: " + start);
            }
            furthest.merge(start.key(), start.number(), Math::max);
            Integer before = last.put(start.key() + " in epoch " + start.epoch(), start.number());
            if (before != null && start.number() != before && start.number() != before + 1) {
                found.add("after " + before + " in the same epoch: " + start);
            }
            seen.add(start.key() + "/" + start.number());
        }
        published.forEach((key, count) -> {
            for (int number = 0; number < count; number++) {
                if (!seen.contains(key + "/" + number)) {
                    found.add("lost for " + group + ": " + key + "/" + number);
                }
            }
        });
        return found;
    }
}
