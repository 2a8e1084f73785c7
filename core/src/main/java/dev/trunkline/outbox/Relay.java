package dev.trunkline.outbox;

import dev.trunkline.Observer;
import dev.trunkline.TrunklineException;
import dev.trunkline.database.Backoff;
import dev.trunkline.database.Database;
import dev.trunkline.database.Failure;
import dev.trunkline.database.Loop;
import dev.trunkline.database.Statements;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the relay. Any process may; a lane that another one is appending to is left to it. With nothing to do it looks
 * ever more rarely, down to the poll interval; a publish in this process makes it look again after 1, 2, 4 … 64 ms, since
 * nobody tells when a caller's transaction commits.
 */
public final class Relay implements AutoCloseable {

    private static final long FIRST_LOOK = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long LAST_LOOK = TimeUnit.MILLISECONDS.toNanos(64);
    /** Under load the relay takes this share of its own time off, so that runs are worth their commit. */
    private static final int REST = 2;

    private static final long LONGEST_REST = TimeUnit.MILLISECONDS.toNanos(20);
    private static final int LARGE_RUN = 5_000;
    private static final Duration SLOWEST_RETRY = Duration.ofSeconds(5);
    private static final Logger log = LoggerFactory.getLogger(Relay.class);

    private final Database database;
    private final Outbox outbox;
    private final Statements statements;
    private final Consumer<String> onAppend;
    private final long pollInterval;
    private final Observer observer;
    private final Loop loop;
    /** Topics that have failed, for the loop only. */
    private final Map<Integer, Rest> rests = new HashMap<>();

    private volatile long nextLook = FIRST_LOOK;

    /**
     * A relay that does not run yet.
     *
     * @param onAppend told the topic of each run that appended something
     */
    public Relay(
            Database database, Outbox outbox, Duration pollInterval, Consumer<String> onAppend, Observer observer) {
        this.database = database;
        this.outbox = outbox;
        this.statements = Statements.beside(Outbox.class, "outbox.sql", database.schema());
        this.onAppend = onAppend;
        this.pollInterval = pollInterval.toNanos();
        this.observer = observer;
        this.loop = new Loop("trunkline-relay", this::step);
    }

    public Relay start() {
        loop.start();
        return this;
    }

    /** Something was or will soon be committed to the outbox. */
    public void expect() {
        boolean resting = nextLook > FIRST_LOOK;
        nextLook = FIRST_LOOK;
        if (resting) {
            loop.wake();
        }
    }

    /**
     * Relays everything that is committed and due now. What others publish meanwhile is not waited for: with much of it there would be no end; who is just
     * appending is, a few seconds. Returns how many messages got their place. What a topic fails of is thrown when the others are done.
     */
    public long runOnce() {
        Map<Integer, SQLException> failed = new LinkedHashMap<>();
        Run run = run(Moment.NOW, failed.keySet());
        Moment began = run.began();
        long moved = run.moved();
        failed.putAll(run.failed());
        while (run.found()) {
            run = run(began, failed.keySet());
            moved += run.moved();
            failed.putAll(run.failed());
        }
        if (!failed.isEmpty()) {
            failed.forEach((topic, problem) -> warn(topic, problem, ""));
            List<SQLException> all = List.copyOf(failed.values());
            TrunklineException problem = Failure.explain(all.getFirst());
            all.subList(1, all.size()).forEach(problem::addSuppressed);
            throw problem;
        }
        return moved;
    }

    private Duration step() {
        long began = System.nanoTime();
        Set<Integer> resting = rests.entrySet().stream()
                .filter(each -> each.getValue().until - began > 0)
                .map(Map.Entry::getKey)
                .collect(Collectors.toSet());
        Run run = run(Moment.NOW, resting);
        rests.keySet()
                .removeIf(topic -> !resting.contains(topic) && !run.failed().containsKey(topic));
        run.failed().forEach(this::rest);
        if (run.moved() > 0) {
            nextLook = FIRST_LOOK;
            if (run.moved() >= LARGE_RUN) {
                return Duration.ZERO;
            }
            return Duration.ofNanos(Math.clamp(REST * (System.nanoTime() - began), FIRST_LOOK, LONGEST_REST));
        }
        long look = nextLook;
        nextLook = Math.min(look * 2, Math.max(pollInterval, LAST_LOOK * 2));
        return Duration.ofNanos(Math.min(look <= LAST_LOOK ? look : pollInterval, run.nextDue()));
    }

    /** A topic that fails is tried again more and more slowly; the others are not slowed down by it. */
    private void rest(int topic, SQLException problem) {
        Rest rest = rests.computeIfAbsent(topic, any -> new Rest());
        Duration pause = rest.backoff.next();
        rest.until = System.nanoTime() + pause.toNanos();
        warn(topic, problem, " (next try in " + pause.toMillis() + " ms)");
    }

    private static final class Rest {
        private final Backoff backoff = new Backoff(SLOWEST_RETRY);
        private long until;
    }

    private void warn(int topic, SQLException problem, String next) {
        String name = name(topic);
        (name == null ? log.atWarn() : log.atWarn().addKeyValue("topic", name))
                .log(
                        "relay of topic {}: {}{}",
                        name == null ? "number " + topic : '"' + name + '"',
                        Failure.explain(problem).getMessage(),
                        next);
    }

    private @Nullable String name(int topic) {
        try {
            return database.read(connection -> {
                try (PreparedStatement statement = connection.prepareStatement(statements.get("topic"))) {
                    statement.setInt(1, topic);
                    try (ResultSet row = statement.executeQuery()) {
                        return row.next() ? row.getString(1) : null;
                    }
                }
            });
        } catch (TrunklineException e) {
            return null;
        }
    }

    /**
     * One look, and one run for each topic that has something of what was committed, or due, by then. About the past, who is just appending is waited for.
     *
     * @param leaveOut topics that are not tried
     */
    private Run run(Moment upto, Set<Integer> leaveOut) {
        return database.call(connection -> {
            Integer[] topics;
            double nextDue;
            Moment began;
            try (PreparedStatement statement = connection.prepareStatement(statements.get("pending"))) {
                statement.setString(1, upto.snapshot());
                statement.setString(2, upto.time());
                try (ResultSet row = statement.executeQuery()) {
                    row.next();
                    Array array = row.getArray(1);
                    topics = array == null ? new Integer[0] : (Integer[]) array.getArray();
                    nextDue = row.getDouble(2);
                    if (row.wasNull()) {
                        nextDue = Double.POSITIVE_INFINITY;
                    }
                    outbox.use(row.getInt(3));
                    began = new Moment(row.getString(4), row.getString(5));
                }
            }
            long moved = 0;
            boolean found = false;
            Map<Integer, SQLException> failed = new LinkedHashMap<>();
            for (int topic : topics) {
                if (!leaveOut.contains(topic)) {
                    found = true;
                    try {
                        moved += relay(connection, topic, upto);
                    } catch (SQLException e) {
                        if (Failure.of(e) == Failure.UNKNOWN) {
                            throw e; // no connection, no other topic
                        }
                        failed.put(topic, e);
                    }
                }
            }
            return new Run(
                    moved,
                    found,
                    failed,
                    nextDue > 3600 ? Long.MAX_VALUE : (long) Math.max((double) FIRST_LOOK, nextDue * 1e9),
                    began);
        });
    }

    private long relay(Connection connection, int topic, Moment upto) throws SQLException {
        long began = System.nanoTime();
        boolean waits = upto.snapshot() != null;
        try (PreparedStatement statement =
                connection.prepareStatement(statements.get(waits ? "relayWaiting" : "relay"))) {
            statement.setQueryTimeout(Database.STATEMENT_SECONDS);
            int next = 1;
            if (waits) {
                statement.setString(next++, upto.snapshot());
                statement.setString(next++, upto.time());
            }
            statement.setInt(next, topic);
            try (ResultSet row = statement.executeQuery()) {
                if (!row.next()) {
                    return 0; // it was dropped
                }
                long moved = row.getLong(1);
                if (moved > 0) {
                    onAppend.accept(row.getString(2));
                    observer.relayed(row.getString(2), moved, Duration.ofNanos(System.nanoTime() - began));
                }
                return moved;
            }
        } catch (SQLException e) {
            if (!waits && Failure.of(e) == Failure.LOCKED) {
                return 0;
            }
            throw e;
        }
    }

    @Override
    public void close() {
        loop.close();
    }

    /**
     * @param found whether there was a topic to relay
     * @param failed the topics that could not be
     * @param nextDue nanoseconds until the next delayed message is due
     * @param began when it looked
     */
    private record Run(long moved, boolean found, Map<Integer, SQLException> failed, long nextDue, Moment began) {}

    /** A moment as the database says it: what was committed by then, and what time it was. */
    private record Moment(
            @Nullable String snapshot, @Nullable String time) {
        static final Moment NOW = new Moment(null, null);
    }
}
