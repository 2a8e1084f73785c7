package dev.trunkline.testing;

import dev.trunkline.DatabaseUnavailableException;
import dev.trunkline.Message;
import dev.trunkline.OutcomeUnknownException;
import dev.trunkline.Trunkline;
import dev.trunkline.TrunklineException;
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

    private static final String UNDER_TRANSACTION = "work";

    private final Trunkline trunkline;
    private final DataSource source;
    private final String topic;
    private final History history;
    private final long seed;
    private final List<Thread> threads = new ArrayList<>();
    private final AtomicLong acknowledged = new AtomicLong();
    private final Queue<Throwable> surprises = new ConcurrentLinkedQueue<>();
    private volatile boolean stopped;

    /** @param source where the callers' own transactions come from */
    public Load(Trunkline trunkline, DataSource source, String topic, History history, long seed) {
        this.trunkline = trunkline;
        this.source = source;
        this.topic = topic;
        this.history = history;
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

    /** The work values of a log: they must be the business rows. */
    public static List<String> underTransaction(List<History.Entry> log) {
        return log.stream()
                .map(History.Entry::value)
                .filter(value -> value.startsWith(UNDER_TRANSACTION))
                .toList();
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
                history.begin(List.of(value), delayed),
                () -> trunkline.publisher().publish(sent));
    }

    private void publishAll(String prefix, Random random) {
        List<String> values = values(prefix, 2 + random.nextInt(9));
        List<Message> messages =
                values.stream().map(value -> message(value, random)).toList();
        conclude(history.begin(values), () -> trunkline.publisher().publishAll(messages));
    }

    private void conclude(History.Pending call, Runnable action) {
        try {
            action.run();
            call.ok();
            acknowledged.incrementAndGet();
        } catch (OutcomeUnknownException e) {
            call.unknown();
        } catch (DatabaseUnavailableException e) {
            call.failed();
        } catch (RuntimeException e) {
            call.unknown();
            surprises.add(e);
        }
    }

    /** Whether the connection is still good. */
    private boolean publishUnderTransaction(Connection connection, String suffix, Random random) {
        List<String> values = values(UNDER_TRANSACTION + suffix, 1 + random.nextInt(3));
        boolean rollsBack = random.nextInt(5) == 0;
        boolean together = random.nextBoolean();
        History.Pending call = history.begin(values);
        try {
            open(connection);
            insert(connection, values);
            if (together) {
                trunkline
                        .publisher()
                        .publishAll(
                                connection,
                                values.stream().map(v -> message(v, random)).toList());
            } else {
                for (String value : values) {
                    trunkline.publisher().publish(connection, message(value, random));
                }
            }
        } catch (SQLException | TrunklineException e) {
            call.failed();
            expectLostConnection(e);
            return false;
        }
        try {
            if (rollsBack) {
                connection.rollback();
                call.failed();
            } else {
                connection.commit();
                call.ok();
                acknowledged.incrementAndGet();
            }
            return true;
        } catch (SQLException e) {
            if (rollsBack) {
                call.failed();
            } else {
                call.unknown();
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

    private static List<String> values(String prefix, int count) {
        List<String> values = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            values.add(prefix + "-" + i);
        }
        return values;
    }
}
