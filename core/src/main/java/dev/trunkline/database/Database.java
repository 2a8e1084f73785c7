package dev.trunkline.database;

import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Where connections come from, and the one way in which Trunkline uses them on its own: autocommit, one statement a call. */
public final class Database implements AutoCloseable {

    /** The longest that one of our own statements may run, in seconds. */
    public static final int STATEMENT_SECONDS = 120;

    private final DataSource source;
    private final Runnable onClose;
    private final String schema;

    /**
     * A database that has been configured, not yet connected to.
     *
     * @param source connections to the primary
     * @param onClose closes the source if it is ours
     * @param schema the name of the schema, which is a plain lower-case identifier
     */
    public Database(DataSource source, Runnable onClose, String schema) {
        this.source = source;
        this.onClose = onClose;
        this.schema = schema;
    }

    /** Something to do with a connection. */
    @FunctionalInterface
    public interface Call<T extends @Nullable Object> {
        T on(Connection connection) throws SQLException;
    }

    /** The same, for somebody who does not close it. */
    public Database shared() {
        return new Database(source, () -> {}, schema);
    }

    public String schema() {
        return schema;
    }

    /** Runs one statement, or several that need no transaction around them, and explains what goes wrong. */
    public <T extends @Nullable Object> T call(Call<T> call) {
        try {
            return attempt(call);
        } catch (SQLException e) {
            throw Failure.explain(e);
        }
    }

    /** As {@link #call}, for what only reads: a lost connection leaves nothing unknown. */
    public <T extends @Nullable Object> T read(Call<T> call) {
        try {
            return attempt(call);
        } catch (SQLException e) {
            throw Failure.explainRead(e);
        }
    }

    /** As {@link #call}, for callers that decide on the error themselves. Not having got a connection is thrown explained. */
    public <T extends @Nullable Object> T attempt(Call<T> call) throws SQLException {
        try (Connection connection = borrow()) {
            boolean autocommit = connection.getAutoCommit();
            if (autocommit) {
                return call.on(connection);
            }
            connection.setAutoCommit(true);
            try {
                return call.on(connection);
            } finally {
                connection.setAutoCommit(false);
            }
        }
    }

    /** A connection for whoever runs a transaction of his own, and closes it. Not having got one is thrown explained. */
    public Connection borrow() {
        try {
            return source.getConnection();
        } catch (SQLException e) {
            throw Failure.noConnection(e);
        }
    }

    /** Runs statements in one transaction. */
    public <T extends @Nullable Object> T transact(Call<T> call) {
        return call(connection -> {
            connection.setAutoCommit(false);
            T result;
            try {
                result = call.on(connection);
                connection.commit();
            } catch (SQLException | RuntimeException e) {
                abandon(connection, e);
                throw e;
            }
            connection.setAutoCommit(true);
            return result;
        });
    }

    private static void abandon(Connection connection, Exception cause) {
        try {
            connection.rollback();
            connection.setAutoCommit(true);
        } catch (SQLException e) {
            cause.addSuppressed(e);
        }
    }

    @Override
    public void close() {
        onClose.run();
    }
}
