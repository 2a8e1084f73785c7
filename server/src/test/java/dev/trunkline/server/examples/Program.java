package dev.trunkline.server.examples;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.Assertions;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Assumptions;

/** A program of the machine that runs an example. */
public final class Program implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final Process process;
    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final Thread reader;

    private Program(Process process) {
        this.process = process;
        this.reader = Thread.ofVirtual().start(this::read);
    }

    /** Skips the test, and says why, where one of these programs is missing. */
    public static void assumeFound(String... names) {
        for (String name : names) {
            Assumptions.assumeTrue(isFound(name), () -> "there is no " + name + " on the PATH to run the example with");
        }
    }

    /** Skips the test, and says why, where a command does not end well: what it needs is not there. */
    static void assumeEndsWell(Path directory, String why, String... command) throws InterruptedException {
        try (Program program = start(directory, Map.of(), command)) {
            Assumptions.assumeTrue(
                    program.endsInTime() && program.process.exitValue() == 0, () -> why + ": " + program.output());
        }
    }

    static boolean isFound(String name) {
        return Arrays.stream(System.getenv("PATH").split(File.pathSeparator))
                .anyMatch(directory -> Files.isExecutable(Path.of(directory, name)));
    }

    public static Program start(Path directory, Map<String, String> environment, String... command) {
        ProcessBuilder builder =
                new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true);
        builder.environment().putAll(environment);
        try {
            return new Program(builder.start());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Runs it to its end, which must be a good one. Returns what it wrote. */
    public static List<String> run(Path directory, Map<String, String> environment, String... command)
            throws InterruptedException {
        try (Program program = start(directory, environment, command)) {
            int code = program.waitFor();
            Assertions.assertThat(code).as(program.output()).isZero();
            return List.copyOf(program.lines);
        }
    }

    private void read() {
        try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = out.readLine(); line != null; line = out.readLine()) {
                lines.add(line);
            }
        } catch (IOException e) {
            lines.add("its output could not be read: " + e.getMessage());
        }
    }

    void awaitLine(String line) {
        Awaitility.await(line).atMost(PATIENCE).until(() -> lines.contains(line) || !process.isAlive());
        Assertions.assertThat(lines).contains(line);
    }

    int waitFor() throws InterruptedException {
        Assertions.assertThat(endsInTime()).as(output()).isTrue();
        return process.exitValue();
    }

    private boolean endsInTime() throws InterruptedException {
        if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
            return false;
        }
        reader.join();
        return true;
    }

    String output() {
        return String.join("\n", lines);
    }

    /** SIGTERM. What it writes then can still be read: the process itself would close its streams. */
    void stop() {
        process.toHandle().destroy();
    }

    /** SIGKILL. */
    void kill() {
        process.toHandle().destroyForcibly();
    }

    @Override
    public void close() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        kill();
    }
}
