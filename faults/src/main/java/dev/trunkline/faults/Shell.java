package dev.trunkline.faults;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/** Programs of this machine. */
final class Shell {

    private Shell() {}

    /** Runs a program and returns what it said, or fails with that if it does. */
    static String run(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IOException(String.join(" ", command) + ": " + said.strip());
        }
        return said.strip();
    }

    /** What is lacking to run these programs as root. */
    static Optional<String> lacks(String... programs) {
        if (!System.getProperty("user.name").equals("root")) {
            return Optional.of("root");
        }
        return Stream.of(programs).filter(program -> !has(program)).findFirst();
    }

    /** Something that may not be possible on this machine. */
    @FunctionalInterface
    interface Attempt {
        void run() throws IOException, InterruptedException;
    }

    /** Why something is not possible here; empty if it is. */
    static Optional<String> fails(Attempt attempt) {
        try {
            attempt.run();
            return Optional.empty();
        } catch (IOException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.of("it was interrupted");
        }
    }

    static boolean has(String program) {
        return Stream.of(System.getenv("PATH").split(":", -1))
                .anyMatch(directory -> Files.isExecutable(Path.of(directory, program)));
    }
}
