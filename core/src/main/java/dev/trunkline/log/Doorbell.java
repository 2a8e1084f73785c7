package dev.trunkline.log;

import dev.trunkline.database.Database;
import dev.trunkline.database.Loop;
import dev.trunkline.database.Statements;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries the {@link Bell} to other processes by NOTIFY: never in the transaction of a publisher, at most every 20 ms, and only as a
 * hint. Who listens keeps one connection for it; where notifications do not arrive, it says so once, and everything
 * still flows at the poll interval.
 */
public final class Doorbell implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Doorbell.class);
    private static final Duration PAUSE = Duration.ofMillis(20);
    private static final Duration FOREVER = Duration.ofHours(1);
    private static final int HEAR_MILLIS = 500;
    private static final long TEST_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final Database database;
    private final Bell bell;
    private final String channel;
    private final Statements statements;
    private final String me = UUID.randomUUID().toString();
    private final Loop sender;
    private final Loop listener;
    private volatile boolean appended;
    private final AtomicBoolean listening = new AtomicBoolean();
    private volatile boolean closed;

    public Doorbell(Database database, Bell bell) {
        this.database = database;
        this.bell = bell;
        this.channel = "trunkline_" + database.schema();
        this.statements = Statements.beside(Doorbell.class, "log.sql", database.schema());
        this.sender = new Loop("trunkline-doorbell", this::send).start();
        this.listener = new Loop("trunkline-listener", this::listen);
    }

    /** Something was appended by this process. */
    public void ring() {
        bell.ring();
        if (!appended) {
            appended = true;
            sender.wake();
        }
    }

    private Duration send() {
        if (!appended) {
            return FOREVER;
        }
        appended = false;
        notifyOthers();
        return PAUSE;
    }

    private void notifyOthers() {
        database.call(connection -> {
            try (PreparedStatement statement = connection.prepareStatement(statements.get("notify"))) {
                statement.setString(1, channel);
                statement.setString(2, me);
                return statement.execute();
            }
        });
    }

    /** From now on, rings the bell when another process has appended something. */
    public void startListening() {
        if (listening.compareAndSet(false, true)) {
            listener.start();
        }
    }

    private Duration listen() {
        try {
            database.attempt(connection -> {
                try (Statement statement = connection.createStatement()) {
                    statement.execute("listen " + channel);
                    hear(connection.unwrap(PGConnection.class));
                    statement.execute("unlisten *");
                    return true;
                } catch (SQLException e) {
                    // The pool has not seen the error, and would hand the dead connection to somebody else.
                    connection.abort(Runnable::run);
                    throw e;
                }
            });
        } catch (SQLException e) {
            log.info("the connection that listens was lost and is opened again: {}", e.getMessage());
            return Duration.ofMillis(HEAR_MILLIS);
        }
        return FOREVER;
    }

    private void hear(PGConnection connection) throws SQLException {
        // What was appended while nobody listened was not heard.
        bell.ring();
        notifyOthers();
        long testUntil = System.nanoTime() + TEST_NANOS;
        boolean heardMyself = false;
        boolean warned = false;
        while (!closed) {
            boolean others = false;
            PGNotification[] heard = connection.getNotifications(HEAR_MILLIS);
            for (PGNotification notification : heard == null ? new PGNotification[0] : heard) {
                heardMyself |= notification.getParameter().equals(me);
                others |= !notification.getParameter().equals(me);
            }
            if (others) {
                bell.ring();
            }
            if (!heardMyself && !warned && System.nanoTime() - testUntil > 0) {
                warned = true;
                log.warn(
                        "notifications do not arrive on this connection (is there a pooler in transaction mode in between?):"
                                + " what other processes publish is noticed at the poll interval");
            }
        }
    }

    @Override
    public void close() {
        closed = true;
        if (listening.get()) {
            listener.close();
        }
        sender.close();
    }
}
