package dev.trunkline.checker;

import dev.trunkline.checker.Event.Content;
import dev.trunkline.checker.Event.Outcome;
import dev.trunkline.checker.Event.Way;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Where one process writes down what it does. What was written is there even if the process is killed at once: nothing is kept back. Any
 * thread may write.
 */
public final class Journal implements AutoCloseable {

    static final String SUFFIX = ".journal";

    /** Not a channel: that would be closed when a handler is interrupted while it writes. */
    private final OutputStream file;

    private final String name;
    private final AtomicLong calls = new AtomicLong();

    private Journal(OutputStream file, String name) {
        this.file = file;
        this.name = name;
    }

    /** Begins a file, which must not be there yet. Its name makes calls unique: no other process may use the same. */
    public static Journal create(Path directory, String name) {
        try {
            Path file = Files.createFile(directory.resolve(name + SUFFIX));
            return new Journal(new FileOutputStream(file.toFile(), true), name);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A name for a call that no other call has. */
    public String newCall() {
        return name + "-" + calls.incrementAndGet();
    }

    public void write(Event event) {
        write(List.of(event));
    }

    /** Writes events that belong together at once. */
    public void write(List<? extends Event> events) {
        StringBuilder lines = new StringBuilder();
        events.forEach(event -> lines.append(event.line()).append('\n'));
        try {
            file.write(lines.toString().getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Messages are about to be published together. Returns the call, which is to be ended. */
    public String publish(Way way, String topic, List<Content> messages) {
        String call = newCall();
        long now = System.nanoTime();
        write(messages.stream()
                .map(message -> new Event.Publish(now, call, topic, message.key(), message.value(), way))
                .toList());
        return call;
    }

    public void end(String call, Outcome outcome) {
        write(new Event.End(System.nanoTime(), call, outcome));
    }

    /** Something bad is about to be done. Returns the call, which is to be ended when it is over. */
    public String fault(String what) {
        return fault(what, null);
    }

    /** Something bad is about to be done to one member, and nobody else feels it. Returns the call, which is to be ended when it is over. */
    public String fault(String what, @Nullable String victim) {
        String call = newCall();
        write(new Event.Fault(System.nanoTime(), call, what, victim));
        return call;
    }

    @Override
    public void close() {
        try {
            file.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
