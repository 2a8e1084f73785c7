package dev.trunkline.faults;

import dev.trunkline.Delivery;
import dev.trunkline.LogMessage;
import dev.trunkline.RetryPolicy;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.Trunkline;
import dev.trunkline.checker.Event;
import dev.trunkline.checker.Event.Outcome;
import dev.trunkline.checker.Journal;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/** A process that consumes as all groups until its input ends or says so. */
final class ConsumerMain {

    /** One of so many handlings fails and is tried again. */
    private static final int FAILURES = 200;

    private static final RetryPolicy PATIENT = new RetryPolicy(10_000, Duration.ofMillis(5), Duration.ofMillis(200));

    private final Journal journal;
    private final String name;

    private ConsumerMain(Journal journal, String name) {
        this.journal = journal;
        this.name = name;
    }

    /**
     * Consumes.
     *
     * @param arguments the directory of journals, its name
     */
    public static void main(String[] arguments) throws Exception {
        String name = arguments[1];
        try (Journal journal = Journal.create(Path.of(arguments[0]), name);
                Trunkline trunkline = Address.ofEnvironment().open()) {
            new ConsumerMain(journal, name).start(trunkline);
            Crowd.sayStarted();
            Crowd.awaitStop();
        }
    }

    private void start(Trunkline trunkline) {
        SubscriptionOptions options = SubscriptionOptions.fromBeginning().withRetry(PATIENT);
        for (String topic : Workload.TOPICS) {
            trunkline
                    .createConsumerGroup(Workload.PLAIN, topic, String.class)
                    .addConsumer("c", this::handle)
                    .start(options);
        }
        trunkline
                .createConsumerGroup(Workload.EFFECTS, Workload.ORDERS, String.class)
                .addTransactionalConsumer("c", this::handle)
                .start(options);
    }

    private void handle(Delivery<String> delivery) {
        journal.end(begin(delivery), Outcome.OK);
    }

    private void handle(Delivery<String> delivery, Connection connection) throws SQLException {
        String call = begin(delivery);
        LogMessage message = delivery.message();
        try (PreparedStatement insert = connection.prepareStatement(
                "insert into effect (topic, partition, \"offset\", epoch, value) values (?, ?, ?, ?, ?)")) {
            insert.setString(1, message.topic());
            insert.setInt(2, message.partition());
            insert.setLong(3, message.offset());
            insert.setLong(4, delivery.epoch());
            insert.setString(5, delivery.payload());
            insert.executeUpdate();
        } catch (SQLException | RuntimeException e) {
            journal.end(call, Outcome.FAILED);
            throw e;
        }
        journal.end(call, Outcome.OK);
    }

    private String begin(Delivery<String> delivery) {
        LogMessage message = delivery.message();
        String call = journal.newCall();
        journal.write(new Event.Start(
                System.nanoTime(),
                call,
                delivery.group(),
                name,
                delivery.epoch(),
                message.topic(),
                message.partition(),
                message.offset(),
                delivery.key(),
                delivery.payload()));
        if (ThreadLocalRandom.current().nextInt(FAILURES) == 0) {
            journal.end(call, Outcome.FAILED);
            throw new IllegalStateException("it fails now and then");
        }
        return call;
    }
}
