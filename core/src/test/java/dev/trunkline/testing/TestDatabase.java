package dev.trunkline.testing;

import dev.trunkline.Trunkline;
import dev.trunkline.embedded.EmbeddedPostgres;
import dev.trunkline.rig.TransactionPooler;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.awaitility.Awaitility;

/** A fresh, empty database on a real PostgreSQL. One server per version and JVM; it is not durable, but quick. */
public final class TestDatabase {

    private static final Map<Integer, EmbeddedPostgres> SERVERS = new ConcurrentHashMap<>();
    private static final Map<String, TransactionPooler> POOLERS = new ConcurrentHashMap<>();
    private static final AtomicInteger COUNT = new AtomicInteger();

    /** Whether Trunkline is to reach the server through a pooler in transaction mode, as behind PgBouncer. */
    private static final boolean POOLED = Boolean.getBoolean("pooler");

    private final EmbeddedPostgres server;
    private final String name;

    private TestDatabase(EmbeddedPostgres server, String name) {
        this.server = server;
        this.name = name;
    }

    public static TestDatabase fresh() {
        return fresh(18);
    }

    public static TestDatabase fresh(int major) {
        EmbeddedPostgres server = SERVERS.computeIfAbsent(major, TestDatabase::start);
        return on(server);
    }

    public static TestDatabase on(EmbeddedPostgres server) {
        String name = "test_" + COUNT.incrementAndGet();
        server.createDatabase(name);
        return new TestDatabase(server, name);
    }

    private static EmbeddedPostgres start(int major) {
        var builder = EmbeddedPostgres.temporary().unsafeFast();
        Path jar = Path.of("target", "postgres", major + ".jar");
        return (Files.exists(jar) ? builder.binaries(jar) : builder).start();
    }

    public EmbeddedPostgres server() {
        return server;
    }

    public String name() {
        return name;
    }

    public DataSource dataSource() {
        return server.dataSource(name);
    }

    public String url() {
        return server.jdbcUrl(name);
    }

    /** Opened without background work: the test steps relay and upkeep. */
    public Trunkline open() {
        return options().backgroundWork(false).open();
    }

    public Trunkline.Builder options() {
        Trunkline.Builder builder = Trunkline.builder();
        return POOLED
                ? builder.url(pooler().jdbcUrl(name) + "?prepareThreshold=0", server.user(), server.password())
                        .directUrl(url())
                : builder.url(url(), server.user(), server.password());
    }

    /** One for each database; those of others give up what they do not need. */
    private TransactionPooler pooler() {
        return POOLERS.computeIfAbsent(url(), url -> {
            POOLERS.values().forEach(TransactionPooler::swap);
            return pool();
        });
    }

    /** The server trusts it, and whoever else is on this machine. */
    private TransactionPooler pool() {
        try {
            Files.writeString(
                    server.dataDirectory().resolve("cluster").resolve("pg_hba.conf"),
                    "host all all 127.0.0.1/32 trust\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        execute("select pg_reload_conf()");
        return new TransactionPooler(server.port(), 20);
    }

    public Connection connect() throws SQLException {
        return dataSource().getConnection();
    }

    /** Runs a statement and returns its rows, columns joined by "|". */
    public List<String> query(String sql, Object... parameters) {
        try (Connection connection = connect()) {
            return query(connection, sql, parameters);
        } catch (SQLException e) {
            throw new IllegalStateException(sql + ": " + e.getMessage(), e);
        }
    }

    /** As {@link #query}, for what does not wait for locks for long: it is tried again, as upkeep does. */
    public List<String> queryWhenUnlocked(String sql, Object... parameters) {
        return Awaitility.await()
                .pollDelay(Duration.ZERO)
                .ignoreExceptionsMatching(TestDatabase::isLocked)
                .until(() -> query(sql, parameters), rows -> true);
    }

    private static boolean isLocked(Throwable failure) {
        return failure.getCause() instanceof SQLException e && "55P03".equals(e.getSQLState());
    }

    public static List<String> query(Connection connection, String sql, Object... parameters) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < parameters.length; i++) {
                statement.setObject(i + 1, parameters[i]);
            }
            List<String> rows = new ArrayList<>();
            if (statement.execute()) {
                ResultSet row = statement.getResultSet();
                int columns = row.getMetaData().getColumnCount();
                while (row.next()) {
                    List<String> values = new ArrayList<>();
                    for (int i = 1; i <= columns; i++) {
                        values.add(String.valueOf(row.getString(i)));
                    }
                    rows.add(String.join("|", values));
                }
            }
            return rows;
        }
    }

    public long number(String sql, Object... parameters) {
        return Long.parseLong(query(sql, parameters).getFirst());
    }

    public void execute(String sql) {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(sql + ": " + e.getMessage(), e);
        }
    }
}
