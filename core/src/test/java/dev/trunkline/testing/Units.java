package dev.trunkline.testing;

import dev.trunkline.checker.Event;
import dev.trunkline.checker.Event.Publish;
import dev.trunkline.checker.Event.Way;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** What the journals of the checker do not tell: what was published together lies together, and only the last of it in a partition ends the unit. */
final class Units {

    private Units() {}

    /** What a log does against that. What is delayed is promised nothing. */
    static List<String> violations(Collection<Event> events, Collection<WholeLog.Entry> log) {
        Map<String, String> callOf = new HashMap<>();
        for (Event event : events) {
            if (event instanceof Publish publish && publish.way() != Way.LATER) {
                callOf.put(publish.value(), publish.call());
            }
        }
        Map<Integer, List<WholeLog.Entry>> partitions = new TreeMap<>();
        log.forEach(entry -> partitions
                .computeIfAbsent(entry.partition(), partition -> new ArrayList<>())
                .add(entry));
        List<String> found = new ArrayList<>();
        partitions.values().forEach(entries -> {
            entries.sort(Comparator.comparingLong(WholeLog.Entry::offset));
            check(callOf, entries, found);
        });
        return found;
    }

    private static void check(Map<String, String> callOf, List<WholeLog.Entry> entries, List<String> found) {
        Set<String> over = new HashSet<>();
        for (int i = 0; i < entries.size(); i++) {
            WholeLog.Entry entry = entries.get(i);
            String call = callOf.get(entry.value());
            if (call == null) {
                continue;
            }
            WholeLog.Entry next = i + 1 < entries.size() ? entries.get(i + 1) : null;
            boolean last = next == null || !call.equals(callOf.get(next.value()));
            if (over.contains(call)) {
                found.add("unit torn apart before " + entry);
            }
            if (last) {
                over.add(call);
            }
            if (last != entry.unitEnd()) {
                found.add((last ? "unit has no end at " : "unit ends too early at ") + entry);
            }
            if (!last && next.unit() != entry.unit()) {
                found.add("unit changes between " + entry + " and " + next);
            }
        }
    }
}
