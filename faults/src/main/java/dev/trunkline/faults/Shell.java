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

    static boolean has(String program) {
        return Stream.of(System.getenv("PATH").split(":", -1))
                .anyMatch(directory -> Files.isExecutable(Path.of(directory, program)));
    }
}
