package dev.trunkline.consume;

import java.util.PriorityQueue;

/** Time that passes only when something is to happen: one thing after the other, in nanoseconds since it began. */
final class VirtualTime {

    private final PriorityQueue<Event> events = new PriorityQueue<>();
    private long count;
    private long now;

    private record Event(long at, long number, Runnable action) implements Comparable<Event> {
        @Override
        public int compareTo(Event other) {
            return at == other.at ? Long.compare(number, other.number) : Long.compare(at, other.at);
        }
    }

    long now() {
        return now;
    }

    void after(long nanos, Runnable action) {
        events.add(new Event(now + Math.max(0, nanos), count++, action));
    }

    void runUntil(long end) {
        for (Event next = events.peek(); next != null && next.at() <= end; next = events.peek()) {
            events.remove();
            now = next.at();
            next.action().run();
        }
        now = end;
    }
}
