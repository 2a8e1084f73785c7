package dev.trunkline.faults;

import dev.trunkline.Message;
import dev.trunkline.OutcomeUnknownException;
import dev.trunkline.Trunkline;
import dev.trunkline.TrunklineException;
import dev.trunkline.checker.Event.Outcome;
import dev.trunkline.checker.Event.Way;
import dev.trunkline.checker.Journal;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** A process that publishes in all ways at once until its input ends or says so, whatever happens to the database. */
final class PublisherMain {

    private final Trunkline trunkline;
    private final Address address;
    private final Journal journal;
    private final String name;
    private final Habits habits;

    private volatile boolean stopped;

    /**
     * What it does how.
     *
     * @param threads that publish one after the other
     * @param pause the most milliseconds between two calls of a thread
     * @param lateness the most milliseconds between a publish in a transaction and its commit
     * @param rollbacks how many of a hundred transactions are rolled back
     */
    record Habits(int threads, int pause, int lateness, int rollbacks) {

        static final Habits USUAL = new Habits(4, 40, 0, 5);

        String[] arguments() {
            return new String[] {"" + threads, "" + pause, "" + lateness, "" + rollbacks};
        }

        static Habits of(List<String> arguments) {
            List<Integer> numbers = arguments.stream().map(Integer::parseInt).toList();
            return new Habits(numbers.get(0), numbers.get(1), numbers.get(2), numbers.get(3));
        }
    }

    private PublisherMain(Trunkline trunkline, Address address, Journal journal, String name, Habits habits) {
        this.trunkline = trunkline;
        this.address = address;
        this.journal = journal;
        this.name = name;
        this.habits = habits;
    }

    /**
     * Publishes.
     *
     * @param arguments the directory of journals, its name, a seed, the name of the one that it follows (empty: none), its habits
     */
    public static void main(String[] arguments) throws Exception {
        String name = arguments[1];
        long seed = Long.parseLong(arguments[2]);
        Address address = Address.ofEnvironment();
        Habits habits = Habits.of(List.of(arguments).subList(4, arguments.length));
        Journal journal = Journal.create(Path.of(arguments[0]), name);
        PublisherMain publisher = new PublisherMain(address.open(), address, journal, name, habits);
        List<Thread> threads = new ArrayList<>();
        if (!arguments[3].isEmpty()) {
            List<Unanswered> left = Unanswered.of(Path.of(arguments[0]), arguments[3]);
            threads.add(Thread.ofPlatform()
                    .uncaughtExceptionHandler(PublisherMain::die)
                    .start(() -> left.forEach(publisher::sendAgain)));
        }
        for (int i = 0; i < habits.threads; i++) {
            String thread = name + "." + i;
            Random random = new Random(seed + i);
            threads.add(Thread.ofPlatform()
                    .name(thread)
                    .uncaughtExceptionHandler(PublisherMain::die)
                    .start(() -> publisher.run(thread, random)));
        }
        Crowd.sayStarted();
        Crowd.awaitStop();
        publisher.stopped = true;
        for (Thread thread : threads) {
            thread.join();
        }
        publisher.trunkline.close();
        journal.close();
    }

    /** A thread that ends by an exception that no publisher has to expect: whoever watches the process is to see it. */
    private static void die(Thread thread, Throwable e) {
        e.printStackTrace();
        Runtime.getRuntime().halt(3);
    }

    private void run(String thread, Random random) {
        Connection connection = null;
        for (int i = 0; !stopped; i++) {
            String prefix = thread + "." + i;
            switch (random.nextInt(10)) {
                case 0, 1, 2 -> conclude(Way.PUBLISH, Workload.ORDERS, values(prefix, 1), random);
                case 3, 4, 5 -> conclude(Way.PUBLISH, Workload.CLICKS, values(prefix, 1 + random.nextInt(50)), random);
                case 6 -> conclude(Way.LATER, Workload.ORDERS, values(prefix, 1), random);
                case 7 -> insist(prefix, random);
                default -> {
                    connection = connection == null ? connect() : connection;
                    if (connection != null && !work(connection, values(prefix, 1 + random.nextInt(3)), random)) {
                        abandon(connection);
                        connection = null;
                    }
                }
            }
            LockSupport.parkNanos(1_000_000L * random.nextInt(habits.pause + 1));
        }
        if (connection != null) {
            abandon(connection);
        }
    }

    private static List<String> values(String prefix, int count) {
        return IntStream.range(0, count).mapToObj(i -> prefix + "." + i).toList();
    }

    private void conclude(Way way, String topic, List<String> values, Random random) {
        List<Message> messages = values.stream()
                .map(value -> Workload.message(topic, value, random))
                .map(message ->
                        way == Way.LATER ? message.withDelay(Duration.ofMillis(1 + random.nextInt(100))) : message)
                .toList();
        String call = journal.publish(way, topic, Workload.contents(messages));
        journal.end(call, publish(messages));
    }

    private Outcome publish(List<Message> messages) {
        try {
            if (messages.size() == 1) {
                trunkline.publisher().publish(messages.getFirst());
            } else {
                trunkline.publisher().publishAll(messages);
            }
            return Outcome.OK;
        } catch (OutcomeUnknownException e) {
            return Outcome.UNKNOWN;
        } catch (TrunklineException e) {
            LockSupport.parkNanos(20_000_000); // not the place to spin
            return Outcome.FAILED;
        }
    }

    /** Publishes with idempotency keys, again and again until it is known to be there. */
    private void insist(String prefix, Random random) {
        List<String> values = values(prefix + Unanswered.MARK, 1 + random.nextInt(5));
        insist(values.stream()
                .map(value -> Unanswered.withKey(Workload.message(Workload.ORDERS, value, random)))
                .toList());
    }

    /** What another one did not live to hear the end of. */
    private void sendAgain(Unanswered unanswered) {
        insist(unanswered.contents().stream()
                .map(content -> {
                    Message message = Unanswered.withKey(Message.of(Workload.ORDERS, content.value()));
                    return content.key() == null ? message : message.withKey(content.key());
                })
                .toList());
    }

    private void insist(List<Message> messages) {
        Outcome outcome = Outcome.UNKNOWN;
        while (outcome != Outcome.OK && !stopped) {
            String call = journal.publish(Way.PUBLISH, Workload.ORDERS, Workload.contents(messages));
            outcome = publish(messages);
            journal.end(call, outcome);
        }
    }

    // ---- in a transaction of its own ----

    /** Whether the connection is still good. */
    private boolean work(Connection connection, List<String> values, Random random) {
        boolean rollsBack = random.nextInt(100) < habits.rollbacks;
        List<Message> messages = values.stream()
                .map(value -> Workload.message(Workload.ORDERS, value, random))
                .toList();
        String call = journal.publish(Way.WORK, Workload.ORDERS, Workload.contents(messages));
        try {
            open(connection);
            insert(connection, values);
            trunkline.publisher().publishAll(connection, messages);
            if (habits.lateness > 0) {
                LockSupport.parkNanos(1_000_000L * random.nextInt(habits.lateness));
            }
        } catch (SQLException | TrunklineException e) {
            journal.end(call, Outcome.FAILED);
            return false;
        }
        try {
            if (rollsBack) {
                connection.rollback();
            } else {
                connection.commit();
            }
            journal.end(call, rollsBack ? Outcome.FAILED : Outcome.OK);
            return true;
        } catch (SQLException e) {
            journal.end(call, rollsBack ? Outcome.FAILED : Outcome.UNKNOWN);
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

    private @Nullable Connection connect() {
        try {
            Connection connection = address.connect();
            connection.setAutoCommit(false);
            return connection;
        } catch (SQLException e) {
            LockSupport.parkNanos(20_000_000);
            return null;
        }
    }

    /** Closed, which rolls back. */
    private void abandon(Connection connection) {
        try {
            connection.close();
        } catch (SQLException e) {
            System.err.println(name + ": a connection was not closed: " + e.getMessage());
        }
    }
}
