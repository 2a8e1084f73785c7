package dev.trunkline.faults;

import dev.trunkline.checker.Event;
import dev.trunkline.checker.Event.Outcome;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * What a server did in its last seconds, when the one that took its place had not heard of it. What journals say of messages of that time that
 * are not in the log is taken out of them: the rest must hold, as if they had never been.
 */
final class Oblivion {

    /** When it was, in nanoseconds: from when the successor heard nothing until it took over. */
    record Span(long began, long ended) {}

    /** A call that publishes something. */
    private static final class Call {
        private final long began;
        private final List<String> values = new ArrayList<>(1);
        private long ended = Long.MAX_VALUE;
        private boolean acknowledged;

        Call(long began) {
            this.began = began;
        }
    }

    /** Where a value lies. */
    private record Place(String topic, int partition, long offset, String value) {}

    private static final Duration AFTERLIFE = Address.LEASE.multipliedBy(2);

    private final List<Span> spans;
    private final Map<String, Call> calls = new HashMap<>();
    private final Set<Place> places = new HashSet<>();
    private final Set<String> logged = new HashSet<>();
    private final Set<String> lost = new HashSet<>();

    private Oblivion(List<Span> spans) {
        this.spans = spans;
    }

    /** Takes it out of the journals of a directory, and returns how many messages were lost that had been acknowledged. */
    static long take(Path directory, List<Span> spans) throws IOException {
        if (spans.isEmpty()) {
            return 0;
        }
        return new Oblivion(spans).take(directory);
    }

    private long take(Path directory) throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.list(directory)) {
            files = all.filter(file -> file.toString().endsWith(".journal")).toList();
        }
        for (Path file : files) {
            try (Stream<String> lines = Files.lines(file)) {
                lines.map(Event::parse).forEach(this::learn);
            }
        }
        Set<String> acknowledged = new HashSet<>();
        for (Call call : calls.values()) {
            // All of a call or nothing: what is left of a half is found by the checker.
            if (isForgotten(call) && call.values.stream().noneMatch(logged::contains)) {
                lost.addAll(call.values);
                if (call.acknowledged) {
                    acknowledged.addAll(call.values);
                }
            }
        }
        for (Path file : files) {
            rewrite(file);
        }
        return acknowledged.size();
    }

    private void learn(Event event) {
        switch (event) {
            case Event.Publish e ->
                calls.computeIfAbsent(e.call(), call -> new Call(e.time()))
                        .values
                        .add(e.value());
            case Event.End e -> {
                Call call = calls.get(e.call());
                if (call != null) {
                    call.ended = e.time();
                    call.acknowledged = e.outcome() == Outcome.OK;
                }
            }
            case Event.Logged e -> {
                logged.add(e.value());
                places.add(new Place(e.topic(), e.partition(), e.offset(), e.value()));
            }
            default -> {}
        }
    }

    private boolean isForgotten(Call call) {
        return spans.stream().anyMatch(span -> call.began <= span.ended && call.ended >= span.began);
    }

    /** What was read of the old log is handled for a moment after it is gone: until its owner hears of it. */
    private boolean isOfThen(long time) {
        return spans.stream().anyMatch(span -> time >= span.began && time <= span.ended + AFTERLIFE.toNanos());
    }

    private void rewrite(Path file) throws IOException {
        Path rest = Files.createTempFile(file.getParent(), "rest", "");
        try (Stream<String> lines = Files.lines(file);
                BufferedWriter writer = Files.newBufferedWriter(rest)) {
            for (String line : (Iterable<String>) lines::iterator) {
                if (holds(Event.parse(line))) {
                    writer.write(line);
                    writer.write('\n');
                }
            }
        }
        Files.move(rest, file, StandardCopyOption.REPLACE_EXISTING);
    }

    /** Whether what it says is so in the world that is left. */
    private boolean holds(Event event) {
        return switch (event) {
            case Event.Publish e -> !lost.contains(e.value());
            // A message that was to come later may have got another place.
            case Event.Start e ->
                !isOfThen(e.time()) || places.contains(new Place(e.topic(), e.partition(), e.offset(), e.value()));
            case Event.Read e ->
                !isOfThen(e.time()) || places.contains(new Place(e.topic(), e.partition(), e.offset(), e.value()));
            case Event.Cursor e -> spans.stream().noneMatch(span -> e.time() >= span.began && e.time() <= span.ended);
            default -> true;
        };
    }
}
