package dev.trunkline.rig;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A Java process of its own, on this one's class path, that can be killed. */
public final class ChildJvm implements AutoCloseable {

    private final Process process;
    private final BufferedReader out;

    private ChildJvm(Process process) {
        this.process = process;
        this.out = process.inputReader(StandardCharsets.UTF_8);
    }

    public static ChildJvm start(Class<?> main, String... arguments) {
        return start(List.of(), main, Map.of(), arguments);
    }

    /**
     * Starts one.
     *
     * @param prefix what its command begins with
     * @param environment what it is told so that others on the machine do not see it
     */
    public static ChildJvm start(
            List<String> prefix, Class<?> main, Map<String, String> environment, String... arguments) {
        List<String> command = new ArrayList<>(prefix);
        command.addAll(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                // One that is out of memory ends, as whoever operates it should have it: nobody knows what is left of
                // it.
                "-Xmx256m",
                "-XX:+ExitOnOutOfMemoryError",
                "-cp",
                System.getProperty("java.class.path"),
                main.getName()));
        command.addAll(List.of(arguments));
        try {
            ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
            builder.environment().putAll(environment);
            return new ChildJvm(builder.start());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The next line it writes, or null when it has ended. */
    public @Nullable String readLine() {
        try {
            return out.readLine();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** From now on what it writes is written here: a process that nobody reads from would wait. */
    public void passOn() {
        Thread.ofVirtual().start(() -> {
            for (String line = readLine(); line != null; line = readLine()) {
                System.out.println(line);
            }
        });
    }

    /** Sends it a line. */
    public void writeLine(String line) {
        try {
            var in = process.outputWriter(StandardCharsets.UTF_8);
            in.write(line);
            in.newLine();
            in.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** SIGKILL. What it had written can still be read. */
    public void kill() {
        process.toHandle().destroyForcibly(); // that of the process itself would close its streams
    }

    public long pid() {
        return process.pid();
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    /** Its exit code, if it ends in time. */
    public Optional<Integer> waitFor(Duration most) throws InterruptedException {
        return process.waitFor(most.toMillis(), TimeUnit.MILLISECONDS)
                ? Optional.of(process.exitValue())
                : Optional.empty();
    }

    public int waitFor() throws InterruptedException {
        return process.waitFor();
    }

    @Override
    public void close() {
        kill();
    }
}
