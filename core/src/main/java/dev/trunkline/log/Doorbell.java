package dev.trunkline.log;

import dev.trunkline.Observer;
import dev.trunkline.database.Database;
import dev.trunkline.database.Loop;
import dev.trunkline.database.Statements;
import java.nio.charset.StandardCharsets;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries the {@link Bell} to other processes by NOTIFY: never in the transaction of a publisher, at most every 20 ms, and only as a
 * hint, with the topics it is for. Who listens keeps one connection for it, and tries every few seconds whether it hears itself: while it does, nobody
 * needs to look often; where notifications do not arrive, it says so once, and everything still flows at the poll interval.
 */
public final class Doorbell implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Doorbell.class);
    private static final Duration PAUSE = Duration.ofMillis(20);
    private static final Duration FOREVER = Duration.ofHours(1);
    private static final int HEAR_MILLIS = 500;
    private static final long TEST_NANOS = TimeUnit.SECONDS.toNanos(5);
    /** While notifications arrive, who looks on his own looks so much more rarely. */
    private static final int TRUST = 10;
    /** A notification has less than 8000 bytes. */
    private static final int MOST_BYTES = 7_500;
    /** For no topic: somebody tries whether he hears himself. No topic has it in its name. */
    private static final String TEST = "\t";

    private final Database database;
    private final Bell bell;
    private final String channel;
    private final Statements statements;
    private final String me = UUID.randomUUID().toString();
    private final Duration pollInterval;
    private final Loop sender;
    private final Loop listener;
    private final ReentrantLock lock = new ReentrantLock();
    /** Topics that others are to be told of. */
    private Set<String> appended = new HashSet<>();

    private final Observer observer;
    private volatile boolean heard;
    private final AtomicBoolean listening = new AtomicBoolean();
    private volatile boolean closed;

    /** @param pollInterval how often to look where nothing is heard */
    public Doorbell(Database database, Bell bell, Duration pollInterval, Observer observer) {
        this.database = database;
        this.bell = bell;
        this.pollInterval = pollInterval;
        this.observer = observer;
        this.channel = "trunkline_" + database.schema();
        this.statements = Statements.beside(Doorbell.class, "log.sql", database.schema());
        this.sender = new Loop("trunkline-doorbell", this::send).start();
        this.listener = new Loop("trunkline-listener", this::listen);
    }

    /** How often who waits should look on his own. */
    public Duration pollInterval() {
        return heard ? pollInterval.multipliedBy(TRUST) : pollInterval;
    }

    /** Something was appended to a topic by this process. */
    public void ring(String topic) {
        bell.ring(topic);
        if (remember(Set.of(topic))) {
            sender.wake();
        }
    }

    /** Whether there was nothing to tell before. */
    private boolean remember(Set<String> topics) {
        lock.lock();
        try {
            boolean first = appended.isEmpty();
            appended.addAll(topics);
            return first;
        } finally {
            lock.unlock();
        }
    }

    private Duration send() {
        Set<String> topics;
        lock.lock();
        try {
            topics = appended;
            appended = new HashSet<>();
        } finally {
            lock.unlock();
        }
        if (topics.isEmpty()) {
            return FOREVER;
        }
        String names = String.join("\n", topics);
        try {
            notifyOthers(names.getBytes(StandardCharsets.UTF_8).length > MOST_BYTES ? "" : names);
        } catch (RuntimeException e) {
            remember(topics);
            throw e;
        }
        return PAUSE;
    }

    /** @param topics one a line; empty: any */
    private void notifyOthers(String topics) {
        database.call(connection -> {
            try (PreparedStatement statement = connection.prepareStatement(statements.get("notify"))) {
                statement.setString(1, channel);
                statement.setString(2, me + "\n" + topics);
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
        bell.ringAll();
        boolean testing = false;
        boolean warned = false;
        long nextTest = System.nanoTime();
        try {
            while (!closed) {
                if (System.nanoTime() - nextTest >= 0) {
                    if (testing) {
                        trust(false);
                        warn(warned);
                        warned = true;
                    }
                    nextTest = System.nanoTime() + TEST_NANOS;
                    testing = true;
                    notifyOthers(TEST);
                }
                PGNotification[] all = connection.getNotifications(HEAR_MILLIS);
                for (PGNotification notification : all == null ? new PGNotification[0] : all) {
                    if (notification.getParameter().startsWith(me)) {
                        testing = false;
                        trust(true);
                    } else {
                        tell(notification.getParameter());
                    }
                }
            }
        } finally {
            trust(false);
        }
    }

    private void trust(boolean arriving) {
        heard = arriving;
        observer.notified(arriving);
    }

    private static void warn(boolean warned) {
        if (!warned) {
            log.warn(
                    "notifications do not arrive on this connection (is there a pooler in transaction mode in between?):"
                            + " what other processes publish is noticed at the poll interval");
        }
    }

    private void tell(String notification) {
        String topics = notification.substring(notification.indexOf('\n') + 1);
        if (topics.isEmpty()) {
            bell.ringAll();
        } else if (!topics.equals(TEST)) {
            for (String topic : topics.split("\n", -1)) {
                bell.ring(topic);
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
