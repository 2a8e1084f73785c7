package dev.trunkline.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A PostgreSQL server that belongs to this application and listens on the loopback address.
 *
 * <pre>{@code
 * try (EmbeddedPostgres postgres = EmbeddedPostgres.at(Path.of("data")).start()) {
 *     DataSource orders = postgres.createDatabase("orders");
 * }
 * }</pre>
 *
 * <p>What was committed is durable: it survives {@link #close()}, the death of this JVM and of the machine. A JVM that is
 * killed leaves its server running; the next start on the same directory adopts it. Where two JVMs use one directory at
 * once, the second is a guest whose {@code close()} leaves the server to the first. All methods are thread-safe.
 */
public final class EmbeddedPostgres implements AutoCloseable {
    static final String USER = "postgres";
    private static final Pattern DATABASE_NAME = Pattern.compile("[a-z_][a-z0-9_]{0,62}");

    private final ReentrantLock guard = new ReentrantLock();
    private final Server server;
    private final boolean temporary;
    private final Thread atExit = new Thread(this::close, "embedded-postgres-exit");

    EmbeddedPostgres(Server server, boolean temporary) {
        this.server = server;
        this.temporary = temporary;
        if (temporary) {
            Runtime.getRuntime().addShutdownHook(atExit);
        }
    }

    /** A server whose data stay in this directory, which is made if need be. */
    public static EmbeddedPostgresBuilder at(Path dataDirectory) {
        return EmbeddedPostgresBuilder.at(dataDirectory);
    }

    /** A server whose data are deleted when it is closed, or when the JVM ends. */
    public static EmbeddedPostgresBuilder temporary() {
        return EmbeddedPostgresBuilder.temporary();
    }

    /** Starts the server again after {@link #stop} or {@link #kill}, on the same port; does nothing if it runs. */
    public EmbeddedPostgres start() {
        guarded(server::start);
        return this;
    }

    /** Stops the server; does nothing if it does not run. */
    public void stop(Shutdown shutdown) {
        guarded(() -> server.stop(shutdown));
    }

    /** Stops the server and starts it again on the same port. */
    public void restart(Shutdown shutdown) {
        guarded(() -> {
            server.stop(shutdown);
            server.start();
        });
    }

    /** Kills the server process as the system would when it is out of memory, and waits until its backends are gone. */
    public void kill() {
        guarded(server::kill);
    }

    /** Stops the server, unless another JVM owns it. Deletes the data if they are temporary. */
    @Override
    public void close() {
        guarded(() -> {
            if (temporary) {
                server.stop(Shutdown.IMMEDIATE);
                Places.delete(dataDirectory());
                forgetExit();
            } else if (server.isOwned()) {
                server.stop(Shutdown.FAST);
            }
            server.release();
        });
    }

    /** After a start that failed. A server that is there nevertheless was there before, and stays. */
    void giveUp() {
        if (temporary) {
            close();
        } else {
            abandon();
        }
    }

    /** What the death of the JVM does: the lock is gone, the server is not. */
    void abandon() {
        forgetExit();
        guarded(server::release);
    }

    private void forgetExit() {
        try {
            Runtime.getRuntime().removeShutdownHook(atExit);
        } catch (IllegalStateException e) {
            // The JVM is on its way out and runs the hook.
        }
    }

    /** Address of the database {@code postgres}. */
    public String jdbcUrl() {
        return jdbcUrl("postgres");
    }

    /** Address of a database, without user and password. */
    public String jdbcUrl(String database) {
        return "jdbc:postgresql://127.0.0.1:" + port() + "/" + database;
    }

    /** A superuser. */
    public String user() {
        return USER;
    }

    /** Generated when the data directory was made. */
    public String password() {
        try {
            return server.directory().password();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The same for as long as this object lives. */
    public int port() {
        return server.port();
    }

    /** Major version of the server: 18, for example. */
    public int majorVersion() {
        return server.majorVersion();
    }

    /** Holds the cluster, its password and its log. */
    public Path dataDirectory() {
        return server.directory().path();
    }

    /** Process id of the server. */
    public long pid() {
        return server.pid();
    }

    /** Opens connections to the database {@code postgres}, one for each call, without a pool. */
    public DataSource dataSource() {
        return dataSource("postgres");
    }

    /** Opens connections to a database, one for each call, without a pool. */
    public DataSource dataSource(String database) {
        return dataSource(port(), database, password());
    }

    static PGSimpleDataSource dataSource(int port, String database, String password) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setServerNames(new String[] {"127.0.0.1"});
        source.setPortNumbers(new int[] {port});
        source.setDatabaseName(database);
        source.setUser(USER);
        source.setPassword(password);
        source.setConnectTimeout(10);
        return source;
    }

    /**
     * Makes an empty database.
     *
     * @param name lowercase letters, digits and underscores
     */
    public DataSource createDatabase(String name) {
        if (!DATABASE_NAME.matcher(name).matches()) {
            throw new IllegalArgumentException("not a plain database name: " + name);
        }
        try (Connection connection = dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("create database " + name);
        } catch (SQLException e) {
            throw new EmbeddedPostgresException("cannot create the database " + name, e);
        }
        return dataSource(name);
    }

    private void guarded(Runnable action) {
        guard.lock();
        try {
            action.run();
        } finally {
            guard.unlock();
        }
    }

    @Override
    public String toString() {
        return "PostgreSQL %d on port %d in %s".formatted(majorVersion(), port(), dataDirectory());
    }
}
