package dev.trunkline.server.demo;

import dev.trunkline.TrunklineException;
import dev.trunkline.server.Address;
import dev.trunkline.server.Main;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Another process of the demo. Its input ends with this one, however that comes about, and so does it. */
record Child(Process process) implements AutoCloseable {

    /** Starts a process and returns once its members have started. */
    static Child start(Address address, Path notes) throws IOException {
        Path log = notes.resolve("members.log");
        // Ctrl-C goes to all processes of a terminal: this one alone decides when the other ends.
        ProcessBuilder command = new ProcessBuilder(
                        "sh",
                        "-c",
                        "trap '' INT; exec \"$0\" \"$@\"",
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Main.class.getName(),
                        "demo-member",
                        notes.toString())
                .redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()));
        // Not as arguments, which everybody on the machine can read.
        command.environment()
                .putAll(Map.of(
                        "TRUNKLINE_URL", address.url(),
                        "TRUNKLINE_USER", address.user(),
                        "TRUNKLINE_PASSWORD", address.password(),
                        "TRUNKLINE_SCHEMA", address.schema()));
        Process process = command.start();
        if (!MemberCommand.STARTED.equals(process.inputReader().readLine())) {
            process.destroyForcibly();
            throw new TrunklineException("the demo's second process did not start: see " + log);
        }
        return new Child(process);
    }

    /** SIGKILL, where there is one. */
    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    @Override
    public void close() throws IOException {
        process.getOutputStream().close();
        try {
            process.waitFor(20, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        process.destroyForcibly();
    }
}
