package dev.trunkline.consume;

import dev.trunkline.TrunklineException;
import dev.trunkline.database.Database;
import dev.trunkline.database.Loop;
import dev.trunkline.database.Statements;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This process among those that consume. It renews its beat, and watches the beats of the others: one that stood still over a
 * lease's worth of quick looks in a row is ended, whatever clocks say, so an outage of the database or a stepped clock ends nobody.
 * A session that can not renew its beat takes itself for dead before others do.
 */
final class Session implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Session.class);
    private static final Duration TICK = Duration.ofSeconds(1);
    private static final int BEATS_PER_LEASE = 3;

    private final Database database;
    private final Statements statements;
    private final long leaseNanos;
    private final int looks;
    private final Loop loop;
    /** Seen beats, and over how many looks each stood still. */
    private final Map<Long, Watch> others = new HashMap<>();

    private volatile long id;
    private volatile long aliveUntil;
    private long nextBeat;

    private record Watch(long beat, int still) {}

    Session(Database database, Statements statements, Duration lease) {
        this.database = database;
        this.statements = statements;
        this.leaseNanos = lease.toNanos();
        this.looks = (int) Math.max(2, lease.dividedBy(TICK));
        this.loop = new Loop("trunkline-session", this::step);
    }

    Session start() {
        begin();
        loop.start();
        return this;
    }

    /** Its number; another one after it was ended by others. */
    long id() {
        return id;
    }

    /** Whether others must still believe in it, as of its last beat that arrived. */
    boolean isAlive() {
        return System.nanoTime() - aliveUntil < 0;
    }

    private void begin() {
        long sent = System.nanoTime();
        id = database.call(connection -> {
            try (PreparedStatement statement = connection.prepareStatement(statements.get("beginSession"))) {
                statement.setString(1, ProcessHandle.current().pid() + "@" + Host.NAME);
                statement.setString(2, Duration.ofNanos(leaseNanos).toString());
                return number(statement);
            }
        });
        beaten(sent);
    }

    private void beaten(long sent) {
        aliveUntil = sent + leaseNanos - leaseNanos / 5;
        nextBeat = sent + leaseNanos / BEATS_PER_LEASE;
    }

    private Duration step() {
        try {
            if (System.nanoTime() - nextBeat >= 0) {
                beat();
            }
            watch();
        } catch (RuntimeException e) {
            others.clear();
            throw e;
        }
        return TICK;
    }

    private void beat() {
        long sent = System.nanoTime();
        boolean alive = database.call(connection -> {
            try (PreparedStatement statement = connection.prepareStatement(statements.get("beat"))) {
                statement.setLong(1, id);
                try (ResultSet row = statement.executeQuery()) {
                    row.next();
                    return row.getBoolean(1);
                }
            }
        });
        if (alive) {
            beaten(sent);
        } else {
            log.warn("session {} was ended by another process that saw no beat of it: its partitions are lost", id);
            begin();
        }
    }

    private void watch() {
        long began = System.nanoTime();
        Map<Long, Long> beats = database.read(connection -> {
            try (PreparedStatement statement = connection.prepareStatement(statements.get("sessions"))) {
                statement.setLong(1, id);
                Map<Long, Long> seen = new HashMap<>();
                try (ResultSet row = statement.executeQuery()) {
                    while (row.next()) {
                        seen.put(row.getLong(1), row.getLong(2));
                    }
                }
                return seen;
            }
        });
        if (System.nanoTime() - began > TICK.toNanos() / 2) {
            others.clear();
            return;
        }
        others.keySet().retainAll(beats.keySet());
        beats.forEach((session, beat) -> {
            Watch before = others.get(session);
            Watch now = new Watch(beat, before != null && before.beat() == beat ? before.still() + 1 : 0);
            others.put(session, now);
            if (now.still() >= looks) {
                others.remove(session);
                if (end(session, beat)) {
                    terminate(session);
                    log.info("session {} stood still at beat {} and was ended: its partitions are free", session, beat);
                }
            }
        });
    }

    /** @param beat at which it stood still; null: whatever it is */
    private boolean end(long session, @Nullable Long beat) {
        return database.call(connection -> {
            try (PreparedStatement statement = connection.prepareStatement(statements.get("endSession"))) {
                statement.setLong(1, session);
                statement.setObject(2, beat, Types.BIGINT);
                try (ResultSet row = statement.executeQuery()) {
                    row.next();
                    return row.getBoolean(1);
                }
            }
        });
    }

    /** A handler that was stopped in its transaction must not stand in its successor's way. */
    private void terminate(long session) {
        database.call(connection -> {
            try (PreparedStatement statement = connection.prepareStatement(statements.get("terminate"))) {
                statement.setString(1, "trunkline session " + session);
                return statement.execute();
            }
        });
    }

    private static long number(PreparedStatement statement) throws SQLException {
        try (ResultSet row = statement.executeQuery()) {
            row.next();
            return row.getLong(1);
        }
    }

    /** Ends the session; others may take what it still holds at once. */
    @Override
    public void close() {
        loop.close();
        try {
            end(id, null);
        } catch (TrunklineException e) {
            log.warn("session {} could not be ended, others will notice after a lease: {}", id, e.getMessage());
        }
    }

    /** Only for people who read the table. */
    private static final class Host {
        static final String NAME = name();

        private static String name() {
            try {
                return java.net.InetAddress.getLocalHost().getHostName();
            } catch (java.net.UnknownHostException e) {
                return "unknown";
            }
        }
    }
}
