package dev.trunkline.checker;

import dev.trunkline.checker.Verdict.Told;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Finds the lines that violations are about, by reading the journals once more. */
final class Context {

    private static final int MOST_LINES = 24;

    private record Line(long time, String text) {}

    private final Map<String, List<Line>> ofValue = new HashMap<>();
    private final List<Line> faults = new ArrayList<>();

    private Context(Set<String> values) {
        values.forEach(value -> ofValue.put(value, new ArrayList<>()));
    }

    static List<Told> of(Path directory, List<Violation> violations) throws IOException {
        if (violations.isEmpty()) {
            return List.of();
        }
        Set<String> values = new HashSet<>();
        violations.forEach(violation -> values.addAll(violation.values()));
        Context context = new Context(values);
        for (Path file : Reader.journals(directory)) {
            context.read(file);
        }
        return violations.stream()
                .map(violation -> new Told(violation, context.lines(violation)))
                .toList();
    }

    private void read(Path file) throws IOException {
        String name = file.getFileName().toString().replace(Journal.SUFFIX, "");
        Map<String, Set<String>> calls = new HashMap<>();
        Set<String> badCalls = new HashSet<>();
        Reader.forEach(file, event -> {
            Supplier<Line> line =
                    () -> new Line(event.time(), name + ": " + event.line().replace('\t', ' '));
            if (event instanceof Event.End end) {
                Set<String> its = calls.remove(end.call());
                if (its != null) {
                    its.forEach(value -> keep(value, line));
                }
                if (badCalls.remove(end.call())) {
                    faults.add(line.get());
                }
            } else if (event instanceof Event.Fault fault) {
                badCalls.add(fault.call());
                faults.add(line.get());
            }
            String value = valueOf(event);
            if (value != null && keep(value, line)) {
                String call = callOf(event);
                if (call != null) {
                    calls.computeIfAbsent(call, c -> new HashSet<>()).add(value);
                }
            }
        });
    }

    private boolean keep(String value, Supplier<Line> line) {
        List<Line> lines = ofValue.get(value);
        return lines != null && lines.add(line.get());
    }

    private static @Nullable String valueOf(Event event) {
        return switch (event) {
            case Event.Publish e -> e.value();
            case Event.Start e -> e.value();
            case Event.Read e -> e.value();
            case Event.Logged e -> e.value();
            case Event.Effect e -> e.value();
            default -> null;
        };
    }

    private static @Nullable String callOf(Event event) {
        return switch (event) {
            case Event.Publish e -> e.call();
            case Event.Start e -> e.call();
            default -> null;
        };
    }

    /** The lines about its values, and the faults of that time. */
    private List<String> lines(Violation violation) {
        List<Line> lines = new ArrayList<>();
        violation.values().forEach(value -> lines.addAll(ofValue.getOrDefault(value, List.of())));
        if (lines.isEmpty()) {
            return List.of();
        }
        long first = lines.stream().mapToLong(Line::time).min().orElseThrow();
        long last = lines.stream().mapToLong(Line::time).max().orElseThrow();
        faults.stream().filter(line -> line.time >= first && line.time <= last).forEach(lines::add);
        return lines.stream()
                .distinct()
                .sorted(Comparator.comparingLong(Line::time))
                .limit(MOST_LINES)
                .map(Line::text)
                .toList();
    }
}
