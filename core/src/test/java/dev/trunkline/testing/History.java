package dev.trunkline.testing;

import dev.trunkline.LogMessage;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * What publishers did and what they were told, and whether a log agrees with it. Every value is unique, so each check is
 * a matter of sorting. Threads may record at the same time; checking comes after.
 */
public final class History {

    /** What a caller was told. */
    public enum Outcome {
        OK,
        FAILED,
        UNKNOWN
    }

    /**
     * One call, or one transaction: its values were to be published together or not at all.
     *
     * @param delayed not to be appended at once: then neither order nor togetherness is promised
     * @param invoked when it began, by {@code nanoTime}
     * @param ended when the caller was told
     */
    public record Call(List<String> values, boolean delayed, Outcome outcome, long invoked, long ended) {}

    /** A message of the log. */
    public record Entry(int partition, long offset, String value, long unit, boolean unitEnd) {
        public static Entry of(LogMessage message) {
            return new Entry(message.partition(), message.offset(), message.text(), message.unit(), message.unitEnd());
        }

        @Override
        public String toString() {
            return value + " at " + partition + "/" + offset;
        }
    }

    /** A call that is under way. One that never ends counts as unknown. */
    public static final class Pending {
        private final List<String> values;
        private final boolean delayed;
        private final long invoked = System.nanoTime();
        private volatile long ended;
        private volatile Outcome outcome = Outcome.UNKNOWN;

        private Pending(List<String> values, boolean delayed) {
            this.values = List.copyOf(values);
            this.delayed = delayed;
        }

        public void ok() {
            end(Outcome.OK);
        }

        public void failed() {
            end(Outcome.FAILED);
        }

        public void unknown() {
            end(Outcome.UNKNOWN);
        }

        private void end(Outcome told) {
            ended = System.nanoTime();
            outcome = told;
        }

        private Call call() {
            return new Call(values, delayed, outcome, invoked, ended);
        }
    }

    private final Queue<Call> calls = new ConcurrentLinkedQueue<>();
    private final Queue<Pending> pending = new ConcurrentLinkedQueue<>();
    private final Set<String> dropped = ConcurrentHashMap.newKeySet();

    public Pending begin(List<String> values) {
        return begin(values, false);
    }

    public Pending begin(List<String> values, boolean delayed) {
        Pending call = new Pending(values, delayed);
        pending.add(call);
        return call;
    }

    /** Adds a call that was recorded elsewhere. */
    public void add(Call call) {
        calls.add(call);
    }

    /** These were seen in the log and then dropped by retention: they must not come back. */
    public void dropped(Collection<String> values) {
        dropped.addAll(values);
    }

    public List<Call> calls() {
        List<Call> all = new ArrayList<>(calls);
        pending.forEach(call -> all.add(call.call()));
        return all;
    }

    public List<String> values(Outcome outcome) {
        return calls().stream()
                .filter(call -> call.outcome() == outcome)
                .flatMap(call -> call.values().stream())
                .toList();
    }

    /** How many messages were acknowledged, failed and unknown: for the reader of a failure. */
    @Override
    public String toString() {
        return "%d ok, %d failed, %d unknown"
                .formatted(
                        values(Outcome.OK).size(),
                        values(Outcome.FAILED).size(),
                        values(Outcome.UNKNOWN).size());
    }

    /** What a whole log, whose partitions begin at offset 0, does against its promises. */
    public List<String> violations(Collection<Entry> log) {
        return violations(log, Map.of());
    }

    /** As {@link #violations(Collection)}, where some partitions begin at another offset. */
    public List<String> violations(Collection<Entry> log, Map<Integer, Long> firsts) {
        Map<String, Call> callOf = new HashMap<>();
        for (Call call : calls()) {
            call.values().forEach(value -> callOf.put(value, call));
        }
        Map<Integer, List<Entry>> partitions = new TreeMap<>();
        log.forEach(entry -> partitions
                .computeIfAbsent(entry.partition(), partition -> new ArrayList<>())
                .add(entry));
        List<String> found = new ArrayList<>();
        presence(callOf, log, found);
        partitions.forEach((partition, entries) -> {
            entries.sort(Comparator.comparingLong(Entry::offset));
            places(firsts.getOrDefault(partition, 0L), entries, found);
            order(callOf, entries, found);
            units(callOf, entries, found);
        });
        return found;
    }

    /** C1 and C2: what was acknowledged is there once, what failed never, what is unknown at most once, and whole. */
    private void presence(Map<String, Call> callOf, Collection<Entry> log, List<String> found) {
        Map<String, Entry> seen = new HashMap<>();
        for (Entry entry : log) {
            Entry other = seen.putIfAbsent(entry.value(), entry);
            if (other != null) {
                found.add("twice: " + other + " and " + entry);
            }
            if (!callOf.containsKey(entry.value())) {
                found.add("never published: " + entry);
            }
            if (dropped.contains(entry.value())) {
                found.add("dropped, and back: " + entry);
            }
        }
        for (Call call : new HashSet<>(callOf.values())) {
            List<String> missing = call.values().stream()
                    .filter(value -> !seen.containsKey(value) && !dropped.contains(value))
                    .toList();
            switch (call.outcome()) {
                case OK -> missing.forEach(value -> found.add("lost: " + value + " of " + call));
                case FAILED ->
                    call.values().stream()
                            .filter(seen::containsKey)
                            .forEach(value -> found.add("failed, and there: " + seen.get(value)));
                case UNKNOWN -> {
                    if (!missing.isEmpty() && missing.size() < call.values().size()) {
                        found.add("torn: " + missing + " are missing of " + call);
                    }
                }
            }
        }
    }

    /** C3: offsets of a partition are dense. */
    private static void places(long first, List<Entry> entries, List<String> found) {
        long expected = first;
        for (Entry entry : entries) {
            if (entry.offset() < expected) {
                found.add("offset given twice, or before the first: " + entry);
            } else if (entry.offset() > expected) {
                found.add("hole: " + expected + " is missing before " + entry);
            }
            expected = entry.offset() + 1;
        }
    }

    /** C4: nothing that ended before something else began lies behind it. */
    private static void order(Map<String, Call> callOf, List<Entry> entries, List<String> found) {
        Entry earliest = null;
        long ended = Long.MAX_VALUE;
        for (Entry entry : entries.reversed()) {
            Call call = callOf.get(entry.value());
            if (call == null || call.delayed()) {
                continue;
            }
            if (ended < call.invoked()) {
                found.add("order: " + earliest + " ended before " + entry + " began");
            }
            if (call.outcome() == Outcome.OK && call.ended() < ended) {
                earliest = entry;
                ended = call.ended();
            }
        }
    }

    /** What was published together lies together, and only the last of it in a partition ends the unit. */
    private static void units(Map<String, Call> callOf, List<Entry> entries, List<String> found) {
        Set<Call> over = new HashSet<>();
        for (int i = 0; i < entries.size(); i++) {
            Entry entry = entries.get(i);
            Call call = callOf.get(entry.value());
            if (call == null || call.delayed()) {
                continue;
            }
            Entry next = i + 1 < entries.size() ? entries.get(i + 1) : null;
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
