package dev.trunkline.checker;

import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** How much was checked. */
public final class Figures {

    Duration took = Duration.ZERO;
    long acknowledged;
    long failed;
    long unknown;
    long handled;
    long duplicates;
    long effects;
    long faults;
    long mostOfOneFault;

    private final Map<Class<? extends Event>, Long> events;

    Figures(Map<Class<? extends Event>, Long> events) {
        this.events = Map.copyOf(events);
    }

    public long events() {
        return events.values().stream().mapToLong(n -> n).sum();
    }

    /** How many events of a kind were checked. Where there are none, what they would tell was not checked. */
    public long events(Class<? extends Event> kind) {
        return events.getOrDefault(kind, 0L);
    }

    /** How long it took to read and to check all. */
    public Duration took() {
        return took;
    }

    /** Messages whose publishers were told that they are there. */
    public long acknowledged() {
        return acknowledged;
    }

    /** Messages whose publishers were told nothing, or that it is not known. */
    public long unknown() {
        return unknown;
    }

    /** Messages whose publishers were told that they are not there. */
    public long failed() {
        return failed;
    }

    /** Runs of handlers with messages. */
    public long handled() {
        return handled;
    }

    /** Messages that came again though nobody had said that they failed. */
    public long duplicates() {
        return duplicates;
    }

    /** The most messages that came again because of one fault. */
    public long mostOfOneFault() {
        return mostOfOneFault;
    }

    public long effects() {
        return effects;
    }

    public long faults() {
        return faults;
    }

    @Override
    public String toString() {
        String kinds = events.entrySet().stream()
                .map(each ->
                        "%s %,d".formatted(each.getKey().getSimpleName().toLowerCase(Locale.ROOT), each.getValue()))
                .sorted()
                .collect(Collectors.joining(", "));
        return """
                %,d events in %.1f s: %s
                messages acknowledged %,d, failed %,d, unknown %,d; handled %,d, of these again %,d (for one fault at most %,d); effects %,d; faults %,d""".formatted(
                        events(),
                        took.toNanos() / 1e9,
                        kinds,
                        acknowledged,
                        failed,
                        unknown,
                        handled,
                        duplicates,
                        mostOfOneFault,
                        effects,
                        faults);
    }
}
