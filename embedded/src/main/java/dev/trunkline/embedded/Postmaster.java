package dev.trunkline.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The server process of a cluster, as its {@code postmaster.pid} tells. */
record Postmaster(long pid, int port) {
    private static final Duration DEATH_LIMIT = Duration.ofSeconds(30);

    /** The one that runs, if any. Its file may be there without it, after a crash or a copy of the directory. */
    static Optional<Postmaster> running(Path cluster) {
        List<String> lines = lines(cluster);
        if (lines.size() < 4 || !Path.of(lines.get(1)).equals(cluster)) {
            return Optional.empty();
        }
        Postmaster postmaster = new Postmaster(
                Long.parseLong(lines.get(0).strip()),
                Integer.parseInt(lines.get(3).strip()));
        return Optional.of(postmaster).filter(Postmaster::isPostgres);
    }

    /**
     * Removes the file of a server that is not there. PostgreSQL does so itself unless the process id is in use: by a
     * zombie that nobody reaps, or by an unrelated process after a reboot. Backends that are still alive keep a new
     * server from starting all the same, through their shared memory.
     */
    static void forget(Path cluster) throws IOException {
        Files.deleteIfExists(cluster.resolve("postmaster.pid"));
    }

    private static List<String> lines(Path cluster) {
        try {
            return Files.readAllLines(cluster.resolve("postmaster.pid"));
        } catch (NoSuchFileException e) {
            return List.of();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private boolean isPostgres() {
        Optional<ProcessHandle> process = ProcessHandle.of(pid);
        return process.isPresent()
                && !isGone(process.get())
                && process.get()
                        .info()
                        .command()
                        .map(command ->
                                Path.of(command).getFileName().toString().startsWith("postgres"))
                        .orElse(true);
    }

    /** SIGKILL, then waits until the backends have noticed. */
    void kill() {
        ProcessHandle.of(pid).ifPresent(process -> {
            List<ProcessHandle> all =
                    Stream.concat(Stream.of(process), process.descendants()).toList();
            process.destroyForcibly();
            if (!Pause.until(() -> all.stream().allMatch(Postmaster::isGone), DEATH_LIMIT)) {
                throw new EmbeddedPostgresException("backends of the killed server " + pid + " are still alive after "
                        + DEATH_LIMIT.toSeconds() + "s: " + all);
            }
        });
    }

    private static boolean isGone(ProcessHandle process) {
        if (!process.isAlive()) {
            return true;
        }
        try {
            String stat = Files.readString(Path.of("/proc", Long.toString(process.pid()), "stat"));
            return stat.startsWith("Z", stat.lastIndexOf(')') + 2);
        } catch (IOException e) {
            return !process.isAlive();
        }
    }
}
