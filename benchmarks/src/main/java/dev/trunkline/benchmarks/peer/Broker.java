package dev.trunkline.benchmarks.peer;

import dev.trunkline.benchmarks.database.ChildJvm;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;

/** A broker in a JVM of its own, with a directory of its own. Both are gone when this is closed or this JVM ends. */
final class Broker implements AutoCloseable {

    private static final String HEAP = "-Xmx1g";
    private static final int TAIL = 50;

    private final Path directory;
    private final Process process;
    private final String port;
    private final ReentrantLock lock = new ReentrantLock();

    /** Starts it, and returns once it is ready. */
    Broker(Class<?> main, String... arguments) throws IOException {
        directory = Files.createTempDirectory("trunkline-broker");
        Path errors = directory.resolve("errors.log");
        ProcessBuilder builder = ChildJvm.of(main, HEAP, "--enable-native-access=ALL-UNNAMED");
        builder.command().add(directory.toString());
        builder.command().addAll(List.of(arguments));
        process = builder.redirectError(errors.toFile()).start();
        Runtime.getRuntime().addShutdownHook(new Thread(this::close));
        BufferedReader output = process.inputReader(StandardCharsets.UTF_8);
        String line = output.readLine();
        if (line == null) {
            String tail = tail(errors);
            close();
            throw new IllegalStateException(main.getSimpleName() + " did not start:\n" + tail);
        }
        port = line;
    }

    /** Where it listens. */
    String address() {
        return "127.0.0.1:" + port;
    }

    ProcessHandle process() {
        return process.toHandle();
    }

    private static String tail(Path file) throws IOException {
        List<String> lines = Files.readAllLines(file);
        return String.join("\n", lines.subList(Math.max(0, lines.size() - TAIL), lines.size()));
    }

    @Override
    public void close() {
        lock.lock();
        try {
            process.destroyForcibly().onExit().join();
            if (Files.exists(directory)) {
                delete(directory);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot delete " + directory, e);
        } finally {
            lock.unlock();
        }
    }

    private static void delete(Path tree) throws IOException {
        try (Stream<Path> paths = Files.walk(tree)) {
            for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }
}
