package dev.trunkline.benchmarks;

import dev.trunkline.benchmarks.database.Address;
import dev.trunkline.benchmarks.database.ChildJvm;
import dev.trunkline.benchmarks.peer.Design;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** A JVM that consumes for some groups, with {@link ConsumerProcessMain} in it. It tells again and again how far they have come. */
final class ConsumerProcess implements AutoCloseable {

    private static final int PATIENCE_SECONDS = 60;

    private final Process process;
    private final Thread listening;

    ConsumerProcess(Address address, Design design, List<Integer> groups, Flow flow) throws IOException {
        ProcessBuilder builder =
                ChildJvm.of(ConsumerProcessMain.class, "-Xmx512m").redirectError(ProcessBuilder.Redirect.INHERIT);
        Map<String, String> environment = builder.environment();
        address.putInto(environment);
        environment.put(ConsumerProcessMain.DESIGN, design.name());
        environment.put(
                ConsumerProcessMain.GROUPS, groups.stream().map(String::valueOf).collect(Collectors.joining(",")));
        this.process = builder.start();
        this.listening = Thread.ofPlatform().name("listening").daemon().start(() -> listen(flow));
    }

    private void listen(Flow flow) {
        try (BufferedReader reader = process.inputReader()) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                int space = line.indexOf(' ');
                flow.handledSoFar(
                        Integer.parseInt(line.substring(0, space)), Long.parseLong(line.substring(space + 1)));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Asks it to end, and fails if it does not end well. */
    @Override
    public void close() {
        try {
            process.outputWriter().close();
            if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                throw new IllegalStateException("a consumer's process did not end");
            }
            listening.join();
            if (process.exitValue() != 0) {
                throw new IllegalStateException("a consumer's process ended with " + process.exitValue());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while a consumer's process ended", e);
        } finally {
            process.destroyForcibly();
        }
    }
}
