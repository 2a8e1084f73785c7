package dev.trunkline.testing;

import dev.trunkline.DatabaseUnavailableException;
import dev.trunkline.Message;
import dev.trunkline.OutcomeUnknownException;
import dev.trunkline.Trunkline;
import dev.trunkline.TrunklineException;
import dev.trunkline.checker.Event.Content;
import dev.trunkline.checker.Event.Outcome;
import dev.trunkline.checker.Event.Way;
import dev.trunkline.checker.Journal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.awaitility.Awaitility;

/**
 * Publishers in all ways at once, which write down what they do and go on through whatever happens to the database.
 * Values begin with their way: {@code single, batch, delayed, work}. A work value is published in a transaction that also
 * inserts it into the table {@code business}; one in five of those is rolled back.
 */
public final class Load implements AutoCloseable {

    private final Trunkline trunkline;
    private final DataSource source;
    private final String topic;
    private final Journal journal;
    private final long seed;
    private final List<Thread> threads = new ArrayList<>();
    private final AtomicLong acknowledged = new AtomicLong();
    private final Queue<Throwable> surprises = new ConcurrentLinkedQueue<>();
    private volatile boolean stopped;

    /** @param source where the callers' own transactions come from */
    public Load(Trunkline trunkline, DataSource source, String topic, Journal journal, long seed) {
        this.trunkline = trunkline;
        this.source = source;
        this.topic = topic;
        this.journal = journal;
        this.seed = seed;
    }

    public static void createBusinessTable(TestDatabase database) {
        database.execute("create table business (value text primary key)");
    }

    public Load start(int publishers) {
        for (int i = 0; i < publishers; i++) {
            String name = "p" + seed + "_" + i;
            Random random = new Random(seed + i);
            threads.add(Thread.ofPlatform().name(name).start(() -> run(name, random)));
        }
        return this;
    }

    /** Waits until so many more calls were acknowledged. */
    public void awaitMore(int calls) {
        long target = acknowledged.get() + calls;
        Awaitility.await("load goes on, seed " + seed)
                .pollInterval(Duration.ofMillis(5))
                .atMost(Duration.ofSeconds(60))
                .until(() -> acknowledged.get() >= target || threads.stream().noneMatch(Thread::isAlive));
    }

    /** Lets every publisher end its call. */
    public void stop() {
        stopped = true;
        boolean interrupted = false;
        for (Thread thread : threads) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        stop();
    }

    /** What went wrong in a way that no publisher has to expect. */
    public List<Throwable> surprises() {
        return List.copyOf(surprises);
    }

    private void run(String name, Random random) {
        Connection connection = null;
        for (int i = 0; !stopped; i++) {
            try {
                int way = random.nextInt(10);
                if (way < 4) {
                    publish("single-" + name + "-" + i, random, false);
                } else if (way < 6) {
                    publishAll("batch-" + name + "-" + i, random);
                } else if (way < 7) {
                    publish("delayed-" + name + "-" + i, random, true);
                } else {
                    connection = connection == null ? connect() : connection;
                    if (connection != null && !publishUnderTransaction(connection, "-" + name + "-" + i, random)) {
                        abandon(connection);
                        connection = null;
                    }
                }
            } catch (RuntimeException | Error e) {
                surprises.add(e);
            }
        }
        if (connection != null) {
            abandon(connection);
        }
    }

    private void publish(String value, Random random, boolean delayed) {
        Message message = message(value, random);
        Message sent = delayed ? message.withDelay(Duration.ofMillis(1 + random.nextInt(50))) : message;
        conclude(
                begin(delayed ? Way.LATER : Way.PUBLISH, List.of(sent)),
                () -> trunkline.publisher().publish(sent));
    }

    private void publishAll(String prefix, Random random) {
        List<Message> messages = messages(values(prefix, 2 + random.nextInt(9)), random);
        conclude(begin(Way.PUBLISH, messages), () -> trunkline.publisher().publishAll(messages));
    }

    private String begin(Way way, List<Message> messages) {
        return journal.publish(
                way,
                topic,
                messages.stream()
                        .map(message -> new Content(message.key(), (String) message.payload()))
                        .toList());
    }

    private void conclude(String call, Runnable action) {
        try {
            action.run();
            journal.end(call, Outcome.OK);
            acknowledged.incrementAndGet();
        } catch (OutcomeUnknownException e) {
            journal.end(call, Outcome.UNKNOWN);
        } catch (DatabaseUnavailableException e) {
            journal.end(call, Outcome.FAILED);
        } catch (RuntimeException e) {
            journal.end(call, Outcome.UNKNOWN);
            surprises.add(e);
        }
    }

    /** Whether the connection is still good. */
    private boolean publishUnderTransaction(Connection connection, String suffix, Random random) {
        List<String> values = values("work" + suffix, 1 + random.nextInt(3));
        boolean rollsBack = random.nextInt(5) == 0;
        boolean together = random.nextBoolean();
        List<Message> messages = messages(values, random);
        String call = begin(Way.WORK, messages);
        try {
            open(connection);
            insert(connection, values);
            if (together) {
                trunkline.publisher().publishAll(connection, messages);
            } else {
                for (Message message : messages) {
                    trunkline.publisher().publish(connection, message);
                }
            }
        } catch (SQLException | TrunklineException e) {
            journal.end(call, Outcome.FAILED);
            expectLostConnection(e);
            return false;
        }
        try {
            if (rollsBack) {
                connection.rollback();
                journal.end(call, Outcome.FAILED);
            } else {
                connection.commit();
                journal.end(call, Outcome.OK);
                acknowledged.incrementAndGet();
            }
            return true;
        } catch (SQLException e) {
            if (rollsBack) {
                journal.end(call, Outcome.FAILED);
            } else {
                journal.end(call, Outcome.UNKNOWN);
            }
            expectLostConnection(e);
            return false;
        }
    }

    /**
     * The driver sends BEGIN as a simple query and does not wait for its answer: where somebody cancels that, the statement
     * behind it is committed on its own. So it is one that does nothing.
     */
    private static void open(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("select 1");
        }
    }

    private static void insert(Connection connection, List<String> values) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement("insert into business select unnest(?::text[])")) {
            statement.setArray(1, connection.createArrayOf("text", values.toArray()));
            statement.executeUpdate();
        }
    }

    private void expectLostConnection(Exception e) {
        Throwable cause = e instanceof TrunklineException ? e.getCause() : e;
        String state = cause instanceof SQLException sql ? String.valueOf(sql.getSQLState()) : "";
        if (!state.startsWith("08") && !state.startsWith("57") && !state.equals("25P02")) {
            surprises.add(e);
        }
    }

    private Connection connect() {
        try {
            Connection connection = source.getConnection();
            connection.setAutoCommit(false);
            try (Statement statement = connection.createStatement()) {
                statement.execute("set application_name = 'load'");
            }
            connection.commit();
            return connection;
        } catch (SQLException e) {
            LockSupport.parkNanos(5_000_000); // the server is down: not the place to spin
            return null;
        }
    }

    /** Closed, which rolls back. */
    private void abandon(Connection connection) {
        try {
            connection.close();
        } catch (SQLException e) {
            expectLostConnection(e);
        }
    }

    private Message message(String value, Random random) {
        Message message = Message.of(topic, value);
        return random.nextBoolean() ? message.withKey("key-" + random.nextInt(8)) : message;
    }

    private List<Message> messages(List<String> values, Random random) {
        return values.stream().map(value -> message(value, random)).toList();
    }

    private static List<String> values(String prefix, int count) {
        List<String> values = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            values.add(prefix + "-" + i);
        }
        return values;
    }
}
