package dev.trunkline.consume;

import dev.trunkline.TrunklineException;
import dev.trunkline.database.Backoff;
import dev.trunkline.database.Database;
import dev.trunkline.database.Loop;
import dev.trunkline.database.Statements;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Types;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This process among those that consume. It renews its beat, and watches the beats of the others: one that stood still over a
 * lease's worth of quick looks in a row is ended, whatever clocks say, so an outage of the database or a stepped clock ends nobody.
 * A session that can not renew its beat takes itself for dead before others do.
 *
 * <p>A session also ends when a standby takes over: what was committed last may be lost then, and what this process has read of it is
 * forgotten before it hands out anything in its next session.
 */
final class Session implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Session.class);
    /** After an outage of the database, who is back first would end who waits for longer. */
    private static final Duration LONGEST_RETRY = Duration.ofMillis(500);

    private final Database database;
    private final Statements statements;
    private final Duration lease;
    private final Consumer<String> onBegin;
    private final Runnable onEndOfOther;
    private final Loops loops;
    private final Watch others;
    /** The loops of this process, which are watched as sessions are. */
    private final Watch own;
    /** As they were seen last. */
    private Set<Long> living = Set.of();

    private final Loop loop;
    private volatile Pulse pulse = Pulse.NONE;
    /** Of the server, when this session began. */
    private String timeline = "";

    /**
     * One that is to be started.
     *
     * @param onBegin told the timeline in which it begins: what was read of the log may be out of date
     * @param onEndOfOther another session has ended, whoever ended it: what it had is free
     * @param loops what it beats for
     */
    Session(
            Database database,
            Statements statements,
            Duration lease,
            Consumer<String> onBegin,
            Runnable onEndOfOther,
            Loops loops) {
        this.database = database;
        this.statements = statements;
        this.lease = lease;
        this.onBegin = onBegin;
        this.onEndOfOther = onEndOfOther;
        this.loops = loops;
        this.others = new Watch(lease);
        this.own = new Watch(lease);
        this.loop = new Loop("trunkline-session", this::step, backoff());
    }

    /** The loops of the groups of this process: beats say nothing of one that stands still. */
    interface Loops {
        /** How far each is, and for how long it may stand still. */
        Map<Long, Watch.Beat> steps();

        /** It has stood still for so long: others are to serve its group. */
        void stalled(long loop);
    }

    static Backoff backoff() {
        return new Backoff(LONGEST_RETRY);
    }

    Session start() {
        begin();
        loop.start();
        return this;
    }

    /** Its number, another one after it was ended by others, and for how long it lives. */
    Pulse pulse() {
        return pulse;
    }

    long id() {
        return pulse.session();
    }

    private void begin() {
        long sent = System.nanoTime();
        Pulse next = database.call(connection -> {
            try (PreparedStatement statement = connection.prepareStatement(statements.get("beginSession"))) {
                statement.setString(1, ProcessHandle.current().pid() + "@" + Host.NAME);
                statement.setString(2, lease.toString());
                try (ResultSet row = statement.executeQuery()) {
                    row.next();
                    timeline = row.getString(2);
                    return Pulse.of(row.getLong(1), sent, lease);
                }
            }
        });
        onBegin.accept(timeline);
        pulse = next;
    }

    private Duration step() {
        try {
            if (pulse.isBeatDue(System.nanoTime())) {
                beat();
            }
            long began = System.nanoTime();
            watch(began);
            return Duration.ofNanos(Math.max(0, began + others.interval() - System.nanoTime()));
        } catch (RuntimeException e) {
            others.fail();
            own.fail();
            throw e;
        }
    }

    private void beat() {
        long id = id();
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
            pulse = Pulse.of(id, sent, lease);
        } else {
            String before = timeline;
            begin();
            if (before.equals(timeline)) {
                log.warn("session {} was ended by another process that saw no beat of it: its partitions are lost", id);
            } else {
                log.error(
                        "a standby has taken over, or the database was set back in time (timeline {}, before {}):"
                                + " what was committed last may be lost. Everything is read again",
                        timeline,
                        before);
                end(id, null); // from here on it hands nothing out: others need not wait for its lease
            }
        }
    }

    private void watch(long began) {
        Map<Long, Watch.Beat> beats = database.read(connection -> {
            try (PreparedStatement statement = connection.prepareStatement(statements.get("sessions"))) {
                statement.setLong(1, id());
                Map<Long, Watch.Beat> seen = new HashMap<>();
                try (ResultSet row = statement.executeQuery()) {
                    while (row.next()) {
                        seen.put(row.getLong(1), new Watch.Beat(row.getLong(2), Duration.ofMillis(row.getLong(3))));
                    }
                }
                return seen;
            }
        });
        long took = System.nanoTime() - began;
        own.look(loops.steps(), took).keySet().forEach(loops::stalled);
        Set<Long> left = new HashSet<>(beats.keySet());
        others.look(beats, took).forEach((session, beat) -> {
            if (end(session, beat)) {
                left.remove(session);
                log.info("session {} stood still at beat {} and was ended: its partitions are free", session, beat);
            }
        });
        Set<Long> gone = new HashSet<>(living);
        gone.removeAll(left);
        if (!gone.isEmpty()) {
            gone.forEach(this::terminate); // whoever ended it may have died since
            onEndOfOther.run();
        }
        living = left;
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

    /** Ends the session; others may take what it still holds at once. */
    @Override
    public void close() {
        loop.close();
        long id = id();
        pulse = Pulse.NONE; // whoever still works in its name has nothing to record
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
