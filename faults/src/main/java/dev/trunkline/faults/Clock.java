package dev.trunkline.faults;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** The clock of some processes, which can be set while they run. A small library that is compiled here and loaded before theirs adds what a file says. */
final class Clock {

    private static final String SOURCE = "clock.c";

    private final Path library;
    private final Path file;
    private volatile Duration error = Duration.ZERO;

    private Clock(Path library, Path file) {
        this.library = library;
        this.file = file;
    }

    /** What this machine lacks for it. */
    static Optional<String> lacks() {
        if (!System.getProperty("os.name").equals("Linux")) {
            return Optional.of("Linux");
        }
        return Shell.has("gcc") ? Optional.empty() : Optional.of("gcc");
    }

    /** One that is right. */
    static Clock create(Path directory, String name) throws IOException, InterruptedException {
        Path library = directory.resolve("clock.so");
        if (!Files.exists(library)) {
            compile(directory.resolve(SOURCE), library);
        }
        Clock clock = new Clock(library, directory.resolve(name + ".clock"));
        clock.set(Duration.ZERO);
        return clock;
    }

    private static void compile(Path source, Path library) throws IOException, InterruptedException {
        try (InputStream in = Objects.requireNonNull(Clock.class.getResourceAsStream(SOURCE), SOURCE)) {
            Files.copy(in, source, StandardCopyOption.REPLACE_EXISTING);
        }
        Shell.run("gcc", "-O2", "-fPIC", "-shared", "-o", library.toString(), source.toString(), "-ldl");
    }

    /** How wrong it is. */
    Duration error() {
        return error;
    }

    /** Makes it wrong by so much, for processes that run and for those to come. */
    void set(Duration newError) throws IOException {
        error = newError;
        ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES)
                .order(ByteOrder.nativeOrder())
                .putLong(newError.toSeconds())
                .flip();
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            channel.write(bytes);
        }
    }

    /** What a process has to find in its environment. */
    Map<String, String> environment() {
        return Map.of("LD_PRELOAD", library.toString(), "TRUNKLINE_CLOCK", file.toString());
    }

    /** How a command begins that is to have this clock. */
    List<String> prefix() {
        return List.of("env", "LD_PRELOAD=" + library, "TRUNKLINE_CLOCK=" + file);
    }
}
