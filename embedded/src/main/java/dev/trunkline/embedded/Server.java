package dev.trunkline.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Brings the server of one data directory to run, or to stop. Not thread-safe. */
final class Server {
    private static final Logger LOG = LoggerFactory.getLogger(EmbeddedPostgres.class);

    /** Enough for a recovery from the write-ahead log. */
    private static final Duration START_LIMIT = Duration.ofMinutes(5);

    private static final Duration STOP_LIMIT = Duration.ofMinutes(1);
    private static final int RETRIES = 30;
    private static final String INVALID_AUTHORIZATION = "28";

    private static final List<String> PASSING_TROUBLE = List.of(
            "could not bind",
            "could not create any TCP/IP sockets",
            "lock file \"postmaster.pid\" already exists",
            "pre-existing shared memory block");

    private static final String WEAKNESS = """
            select coalesce(string_agg(name || '=' || setting, ', '), '')
            from pg_settings
            where name in ('fsync', 'synchronous_commit', 'full_page_writes') and setting <> 'on' and name <> all (?)
            """;

    private static final Map<String, String> DEFAULTS = Map.of(
            "listen_addresses", "127.0.0.1",
            "unix_socket_directories", "",
            "max_connections", "300",
            "max_prepared_transactions", "20",
            "shared_buffers", "256MB",
            "max_wal_size", "2GB");

    private final DataDirectory directory;
    private final Binaries binaries;
    private final Account account;
    private final Map<String, String> settings;
    private final Map<String, String> environment;
    private @Nullable PathLock lock;
    private volatile int port;
    private int failures;
    private boolean launched;

    /**
     * @param port 0 for any that is free, at the first start
     */
    Server(
            DataDirectory directory,
            Binaries binaries,
            Account account,
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

    DataDirectory directory() {
        return directory;
    }

    int port() {
        return port;
    }

    int majorVersion() {
        return binaries.major();
    }

    long pid() {
        return running()
                .orElseThrow(() -> new EmbeddedPostgresException("no server runs in " + directory.path()))
                .pid();
    }

    boolean isOwned() {
        return lock != null;
    }

    void release() {
        if (lock != null) {
            lock.close();
            lock = null;
        }
    }

    void start() {
        failures = 0;
        launched = false;
        if (!Pause.until(this::tryStart, START_LIMIT)) {
            throw new EmbeddedPostgresException("the server in %s did not answer within %ds (running: %s, owned: %b)"
                    .formatted(directory.path(), START_LIMIT.toSeconds(), running(), isOwned()));
        }
    }

    /** One step towards a server that answers; false if there are more to come. */
    private boolean tryStart() {
        try {
            if (lock == null) {
                lock = PathLock.tryTake(directory.lock()).orElse(null);
            }
            directory.requireMajor(binaries.major());
            Optional<Postmaster> running = running();
            if (running.isPresent()) {
                return tryLogin(running.get());
            }
            if (isOwned()) {
                tryLaunch();
            }
            return false;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private boolean tryLogin(Postmaster running) throws IOException {
        String weakness;
        try {
            weakness = weakness(running);
        } catch (SQLException e) {
            if (String.valueOf(e.getSQLState()).startsWith(INVALID_AUTHORIZATION)) {
                throw new EmbeddedPostgresException("cannot log in to the server in " + directory.path(), e);
            }
            LOG.debug("Waiting for the server {}", running, e);
            return false;
        }
        boolean elsewhere = port != 0 && port != running.port();
        if (!weakness.isEmpty() || elsewhere) {
            replace(running, weakness);
            return false;
        }
        port = running.port();
        LOG.info(
                "{} PostgreSQL {} on port {} in {}",
                launched ? "Started" : "Found",
                binaries.major(),
                port,
                directory.path());
        return true;
    }

    /** Stops an owned server that does not run as asked for, so that the next step launches another. */
    private void replace(Postmaster running, String weakness) {
        if (isOwned()) {
            stop(Shutdown.FAST);
        }
        if (launched || !isOwned()) {
            throw new EmbeddedPostgresException(
                    "the server in %s runs on port %d, not as asked for (%s). Undo 'alter system', or name these in setting()"
                            .formatted(directory.path(), running.port(), weakness));
        }
    }

    private void tryLaunch() throws IOException {
        int candidate = port == 0 ? freePort() : port;
        directory.initialise(binaries, account, !"off".equals(settings.get("fsync")));
        directory.configure(configuration(candidate));
        account.own(directory.path());
        Postmaster.forget(directory.cluster());
        long before = directory.logSize();
        Command start = pgCtl("start", START_LIMIT, "--log=" + directory.log());
        Command.Result result = start.run(directory.path(), START_LIMIT.plusSeconds(30));
        launched = result.ok();
        String said = directory.logSince(before);
        if (!launched && (++failures > RETRIES || PASSING_TROUBLE.stream().noneMatch(said::contains))) {
            throw new EmbeddedPostgresException("PostgreSQL %d did not start on port %d%n%s%n%s%s"
                    .formatted(binaries.major(), candidate, start, result.output(), said));
        }
    }

    private Map<String, String> configuration(int candidate) {
        Map<String, String> all = new LinkedHashMap<>(DEFAULTS);
        all.putAll(settings);
        all.put("port", Integer.toString(candidate));
        return all;
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    /** Durability settings that are off without having been asked for, or nothing. */
    private String weakness(Postmaster running) throws SQLException, IOException {
        PGSimpleDataSource source = EmbeddedPostgres.dataSource(running.port(), "postgres", directory.password());
        source.setSocketTimeout(10);
        try (Connection connection = source.getConnection();
                PreparedStatement query = connection.prepareStatement(WEAKNESS)) {
            query.setArray(1, connection.createArrayOf("text", settings.keySet().toArray()));
            try (ResultSet row = query.executeQuery()) {
                row.next();
                return row.getString(1);
            }
        }
    }

    void stop(Shutdown shutdown) {
        if (running().isEmpty()) {
            return;
        }
        Command stop = pgCtl("stop", STOP_LIMIT, "--mode=" + shutdown.mode);
        Command.Result result = stop.run(directory.path(), STOP_LIMIT.plusSeconds(30));
        if (!result.ok() && running().isPresent()) {
            throw new EmbeddedPostgresException("PostgreSQL did not stop%n%s%n%s".formatted(stop, result.output()));
        }
        LOG.info("Stopped PostgreSQL {} in {}", binaries.major(), directory.path());
    }

    void kill() {
        running().ifPresent(Postmaster::kill);
    }

    private Optional<Postmaster> running() {
        return Postmaster.running(directory.cluster());
    }

    private Command pgCtl(String action, Duration limit, String option) {
        return Command.of(
                        account.prefix(),
                        binaries.program("pg_ctl"),
                        action,
                        "--pgdata=" + directory.cluster(),
                        "--wait",
                        "--timeout=" + limit.toSeconds(),
                        option)
                .with(environment);
    }
}
