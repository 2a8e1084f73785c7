package dev.trunkline.embedded;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Map;
import java.util.stream.Collectors;

/** What lies where in a data directory, and how it comes there; the package description has the drawing. */
record DataDirectory(Path path) {
    private static final Duration INITDB_LIMIT = Duration.ofMinutes(2);
    private static final long LOG_LIMIT = 16 << 20;

    Path cluster() {
        return path.resolve("cluster");
    }

    Path lock() {
        return path.resolve("lock");
    }

    Path log() {
        return path.resolve("server.log");
    }

    String password() throws IOException {
        return Files.readString(path.resolve("password")).strip();
    }

    /** Refuses a cluster that another major version made. */
    void requireMajor(int major) throws IOException {
        Path version = cluster().resolve("PG_VERSION");
        if (!Files.exists(version)) {
            return;
        }
        String made = Files.readString(version).strip();
        if (!made.equals(Integer.toString(major))) {
            throw new EmbeddedPostgresException("the data in " + path + " was made by PostgreSQL " + made
                    + ", but the binaries are of PostgreSQL " + major + ", which cannot read it. Give the binaries of "
                    + made + ", or dump the data with " + made
                    + " and restore it into a new directory, or use pg_upgrade");
        }
    }

    void initialise(Binaries binaries, Account account, boolean sync) throws IOException {
        if (Files.exists(cluster())) {
            return;
        }
        Path fresh = path.resolve("cluster.new");
        Path password = path.resolve("password");
        Places.delete(fresh);
        Files.writeString(password, "");
        Places.permit(password, Places.PRIVATE);
        Files.writeString(password, generated() + "\n", StandardOpenOption.SYNC);
        account.own(path);
        Command.Result result = initdb(binaries, account, fresh, password, sync, "C.UTF-8");
        if (!result.ok() && result.output().contains("locale")) {
            Places.delete(fresh);
            result = initdb(binaries, account, fresh, password, sync, "C");
        }
        if (!result.ok()) {
            throw new EmbeddedPostgresException("initdb failed in " + path + "\n" + result.output());
        }
        Files.writeString(
                fresh.resolve("postgresql.conf"),
                "\ninclude_if_exists = 'trunkline.conf'\n",
                StandardOpenOption.APPEND,
                StandardOpenOption.SYNC);
        Files.move(fresh, cluster(), StandardCopyOption.ATOMIC_MOVE);
    }

    private Command.Result initdb(
            Binaries binaries, Account account, Path target, Path password, boolean sync, String locale) {
        return Command.of(
                        account.prefix(),
                        binaries.program("initdb"),
                        "--pgdata=" + target,
                        "--username=" + EmbeddedPostgres.USER,
                        "--pwfile=" + password,
                        "--auth=scram-sha-256",
                        "--data-checksums",
                        "--encoding=UTF8",
                        "--locale=" + locale,
                        sync ? "--no-instructions" : "--no-sync")
                .run(path, INITDB_LIMIT);
    }

    private static String generated() {
        byte[] bytes = new byte[24];
        new SecureRandom().nextBytes(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    /** Written anew before every start. */
    void configure(Map<String, String> settings) throws IOException {
        Files.writeString(
                cluster().resolve("trunkline.conf"),
                settings.entrySet().stream()
                        .map(setting -> "%s = '%s'%n"
                                .formatted(setting.getKey(), setting.getValue().replace("'", "''")))
                        .collect(Collectors.joining()));
        if (logSize() > LOG_LIMIT) {
            Files.move(log(), path.resolve("server.log.1"), StandardCopyOption.REPLACE_EXISTING);
        }
    }

    long logSize() throws IOException {
        return Files.exists(log()) ? Files.size(log()) : 0;
    }

    String logSince(long position) throws IOException {
        byte[] bytes = Files.exists(log()) ? Files.readAllBytes(log()) : new byte[0];
        return new String(bytes, (int) position, bytes.length - (int) position, StandardCharsets.UTF_8);
    }
}
