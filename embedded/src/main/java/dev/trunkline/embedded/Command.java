package dev.trunkline.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A program with its arguments, run to its end. */
record Command(List<String> line, Map<String, String> environment) {
    record Result(int exit, String output) {
        boolean ok() {
            return exit == 0;
        }
    }

    static Command of(List<String> prefix, Path program, String... arguments) {
        return new Command(
                Stream.of(prefix.stream(), Stream.of(program.toString()), Stream.of(arguments))
                        .flatMap(part -> part)
                        .toList(),
                Map.of());
    }

    /** The same with these environment variables, among others. */
    Command with(Map<String, String> variables) {
        return new Command(line, variables);
    }

    Result run(Path directory, Duration limit) {
        try {
            // A file, not a pipe: a server that inherits a pipe would hold it open, and the reader would never end.
            Path output = Files.createTempFile("trunkline-", ".out");
            try {
                return run(directory, limit, output);
            } finally {
                Files.deleteIfExists(output);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Result run(Path directory, Duration limit, Path output) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(line)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("PG"));
        builder.environment().put("LC_ALL", "C");
        builder.environment().putAll(environment);
        Process process = builder.start();
        try {
            if (process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
                return new Result(process.exitValue(), Files.readString(output, StandardCharsets.ISO_8859_1));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            process.destroyForcibly();
            throw new EmbeddedPostgresException("interrupted while running: " + this, e);
        }
        process.destroyForcibly();
        throw new EmbeddedPostgresException("still running after " + limit.toSeconds() + "s: " + this);
    }

    @Override
    public String toString() {
        return String.join(" ", line);
    }
}
