package dev.trunkline.faults.seeded;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/** Hears that something was published, by notifications. */
final class Bell {

    private final Connection listener;

    private Bell(Connection listener) {
        this.listener = listener;
    }

    static Bell listen(Miniature log) throws SQLException {
        Connection listener = log.session();
        listener.setAutoCommit(true);
        Miniature.run(listener, "listen bell");
        return new Bell(listener);
    }

    static void ring(Miniature log) throws SQLException {
        Connection session = log.session();
        Miniature.run(session, "notify bell");
        session.commit();
    }

    /** Whether it rings within a time. */
    boolean rings(Duration most) throws SQLException {
        PGNotification[] heard = listener.unwrap(PGConnection.class).getNotifications((int) most.toMillis());
        return heard != null && heard.length > 0;
    }

    /** Ends its connection. */
    void kill(Miniature log) throws SQLException {
        long pid = Miniature.number(listener, "select pg_backend_pid()");
        Miniature.number(log.session(), "select pg_terminate_backend(?::int, 10000)::int", pid);
    }
}
