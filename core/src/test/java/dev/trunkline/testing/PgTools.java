package dev.trunkline.testing;

import dev.trunkline.embedded.EmbeddedPostgres;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** PostgreSQL's client programs of this machine: the embedded server comes without them. */
public final class PgTools {

    private static final int OLDEST = 15;
    private static final Pattern VERSION = Pattern.compile("(\\d+)");

    private final Path directory;
    private final int major;

    private PgTools(Path directory, int major) {
        this.directory = directory;
        this.major = major;
    }

    /** The newest that there are, if they are not older than the oldest server we work with. */
    public static Optional<PgTools> find() {
        return directories()
                .filter(directory -> Stream.of("pg_dump", "pg_restore", "psql")
                        .allMatch(program -> Files.isExecutable(directory.resolve(program))))
                .map(directory -> new PgTools(directory, major(directory)))
                .filter(tools -> tools.major >= OLDEST)
                .max((a, b) -> Integer.compare(a.major, b.major));
    }

    private static Stream<Path> directories() {
        Stream<Path> onPath =
                Stream.of(System.getenv("PATH").split(File.pathSeparator, -1)).map(Path::of);
        Path installed = Path.of("/usr/lib/postgresql");
        if (!Files.isDirectory(installed)) {
            return onPath;
        }
        try (Stream<Path> versions = Files.list(installed)) {
            return Stream.concat(versions.map(version -> version.resolve("bin")).toList().stream(), onPath);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static int major(Path directory) {
        Matcher matcher =
                VERSION.matcher(run(List.of(directory.resolve("pg_dump").toString(), "--version"), ""));
        return matcher.find() ? Integer.parseInt(matcher.group(1)) : 0;
    }

    /** Runs a program against a database and returns what it said; fails if it does. */
    public String run(String program, EmbeddedPostgres server, String database, String... arguments) {
        List<String> command = new ArrayList<>(List.of(
                directory.resolve(program).toString(),
                "--host=127.0.0.1",
                "--port=" + server.port(),
                "--username=" + server.user(),
                "--dbname=" + database));
        command.addAll(List.of(arguments));
        return run(command, server.password());
    }

    private static String run(List<String> command, String password) {
        try {
            ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
            builder.environment().put("PGPASSWORD", password);
            Process process = builder.start();
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            int code = process.waitFor();
            if (code != 0) {
                throw new IllegalStateException(command + " ended with " + code + ":\n" + said);
            }
            return said;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    public int major() {
        return major;
    }
}
