package dev.trunkline.faults;

import dev.trunkline.embedded.EmbeddedPostgres;
import dev.trunkline.embedded.EmbeddedPostgresBuilder;
import dev.trunkline.embedded.Shutdown;
import dev.trunkline.rig.FaultProxy;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/** A server and its standby, which takes its place when it dies; then another standby is made. Lines lead to the one in charge. */
final class Pair implements AutoCloseable {

    /** Of one server, or made anew by the next: their content, or all of it. */
    private static final Set<String> EMPTIED =
            Set.of("pg_wal", "pg_replslot", "pg_dynshmem", "pg_stat_tmp", "pg_notify");

    private static final Set<String> LEFT_OUT =
            Set.of("lock", "server.log", "postmaster.pid", "postmaster.opts", "postgresql.auto.conf");

    private final Path directory;
    private final Function<Path, EmbeddedPostgresBuilder> servers;
    private final List<FaultProxy> lines;
    private final boolean awaited;
    private EmbeddedPostgres primary;
    private EmbeddedPostgres standby;
    private int made;

    /**
     * Makes the first standby.
     *
     * @param directory where standbys have their data
     * @param servers how a server is started in a directory
     * @param awaited whether a commit waits for the standby
     */
    Pair(
            EmbeddedPostgres primary,
            Path directory,
            Function<Path, EmbeddedPostgresBuilder> servers,
            List<FaultProxy> lines,
            boolean awaited)
            throws IOException, SQLException {
        this.primary = primary;
        this.directory = directory;
        this.servers = servers;
        this.lines = lines;
        this.awaited = awaited;
        this.standby = newStandby();
    }

    /** The primary is killed, the standby takes its place, and everybody is led there. */
    void failOver() throws SQLException {
        EmbeddedPostgres old = primary;
        old.kill();
        execute(standby, "select pg_promote()");
        primary = standby;
        standby = old;
        lines.forEach(line -> line.lead(primary.port()));
    }

    /** The standby gets what there is now, and nothing more. */
    void cutOff() throws SQLException {
        String here = ask(primary, "select pg_current_wal_flush_lsn()");
        Standing.await(
                "the standby has caught up",
                () -> ask(standby, "select pg_last_wal_replay_lsn() >= '" + here + "'")
                        .equals("t"));
        execute(standby, "alter system set primary_conninfo = ''");
        execute(standby, "select pg_reload_conf()");
        Standing.await(
                "the standby is cut off",
                () -> ask(primary, "select count(*) from pg_stat_replication").equals("0"));
    }

    /** The old primary comes back, where nobody is led to; it is given up, and there is a standby again. */
    void renew() throws IOException, SQLException {
        EmbeddedPostgres old = standby;
        old.start();
        standby = newStandby();
        giveUp(old);
    }

    private static void giveUp(EmbeddedPostgres server) {
        server.stop(Shutdown.IMMEDIATE);
        server.close();
    }

    private EmbeddedPostgres newStandby() throws IOException, SQLException {
        Path copy = directory.resolve("server-" + ++made);
        backUp(copy);
        Files.createFile(copy.resolve("cluster").resolve("standby.signal"));
        EmbeddedPostgres server = servers.apply(copy)
                .setting(
                        "primary_conninfo",
                        "host=127.0.0.1 port=%d user=%s password=%s"
                                .formatted(primary.port(), primary.user(), primary.password()))
                .start();
        if (awaited) {
            execute(primary, "alter system set synchronous_standby_names = '*'");
            execute(primary, "select pg_reload_conf()");
        }
        Standing.await(
                "there is a standby",
                () -> ask(primary, "select sync_state from pg_stat_replication").equals(awaited ? "sync" : "async"));
        if (awaited) {
            // Commits of before were not waited for: this one is, and they lie before it.
            execute(primary, "select pg_current_xact_id()");
        }
        return server;
    }

    private void backUp(Path copy) throws IOException, SQLException {
        try (Connection connection = primary.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("select pg_backup_start('standby', true)");
            Files.walkFileTree(primary.dataDirectory(), new Copy(primary.dataDirectory(), copy));
            try (ResultSet row = statement.executeQuery("select labelfile from pg_backup_stop(false)")) {
                row.next();
                Files.writeString(copy.resolve("cluster").resolve("backup_label"), row.getString(1));
            }
        }
    }

    private static void execute(EmbeddedPostgres server, String sql) throws SQLException {
        try (Connection connection = server.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** The first answer, empty if there is none. */
    private static String ask(EmbeddedPostgres server, String sql) throws SQLException {
        try (Connection connection = server.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            return row.next() ? row.getString(1) : "";
        }
    }

    @Override
    public void close() throws IOException {
        giveUp(primary);
        giveUp(standby);
        for (int i = 1; i <= made; i++) {
            Main.delete(directory.resolve("server-" + i));
        }
    }

    /** Copies the data of a server at work: files come and go. */
    private static final class Copy extends SimpleFileVisitor<Path> {
        private final Path from;
        private final Path to;

        Copy(Path from, Path to) {
            this.from = from;
            this.to = to;
        }

        @Override
        public FileVisitResult preVisitDirectory(Path path, BasicFileAttributes attributes) throws IOException {
            Path target = target(path);
            Files.createDirectories(target);
            Files.setPosixFilePermissions(target, Files.getPosixFilePermissions(path));
            return EMPTIED.contains(path.getFileName().toString())
                    ? FileVisitResult.SKIP_SUBTREE
                    : FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFile(Path path, BasicFileAttributes attributes) throws IOException {
            if (!LEFT_OUT.contains(path.getFileName().toString())) {
                try {
                    Files.copy(path, target(path), StandardCopyOption.COPY_ATTRIBUTES);
                } catch (NoSuchFileException e) {
                    return FileVisitResult.CONTINUE;
                }
            }
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFileFailed(Path path, IOException e) throws IOException {
            if (e instanceof NoSuchFileException) {
                return FileVisitResult.CONTINUE;
            }
            throw e;
        }

        private Path target(Path path) {
            return to.resolve(from.relativize(path));
        }
    }
}
