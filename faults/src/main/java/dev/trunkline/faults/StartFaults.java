package dev.trunkline.faults;

import dev.trunkline.ConsumerGroup;
import dev.trunkline.ConsumerGroupException;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.rig.ChildJvm;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** Several of what there should be one of, started at once. */
final class StartFaults {

    private static final int PROCESSES = 10;

    private StartFaults() {}

    static List<Fault> all() {
        return List.of(new Fault("F19b", "open an empty database ten times at once", StartFaults::openAtOnce)
                .sparingPublishers());
    }

    private static void openAtOnce(Trial trial) throws Exception {
        String database = "empty_" + trial.events();
        trial.server().createDatabase(database);
        Address address = address(trial, database);
        openAtOnce(address);
        requireMigratedOnce(address);
        requireRefusals(address);
        trial.awaitMore(100);
    }

    /** Where another database of the trial's server is. */
    static Address address(Trial trial, String database) {
        return new Address(
                trial.server().jdbcUrl(database),
                trial.server().user(),
                trial.server().password());
    }

    private static void openAtOnce(Address address) throws InterruptedException {
        List<ChildJvm> processes = new ArrayList<>();
        try {
            for (int i = 0; i < PROCESSES; i++) {
                processes.add(ChildJvm.start(List.of(), OpenMain.class, address.environment()));
            }
            processes.forEach(process -> awaitLine(process, OpenMain.READY));
            processes.forEach(process -> process.writeLine("go"));
            for (ChildJvm process : processes) {
                awaitLine(process, OpenMain.OPENED);
                if (process.waitFor() != 0) {
                    throw new IllegalStateException("a process that had opened the database failed");
                }
            }
        } finally {
            processes.forEach(ChildJvm::close);
        }
    }

    private static void awaitLine(ChildJvm process, String beginning) {
        String line = process.readLine();
        while (line != null && !line.startsWith(beginning)) {
            line = process.readLine();
        }
        if (line == null) {
            throw new IllegalStateException("a process ended before it said \"" + beginning + "\"");
        }
    }

    static void requireMigratedOnce(Address address) throws SQLException {
        try (Connection connection = address.connect();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(
                        "select count(*), count(distinct version), max(version), (select count(*) from trunkline.installation)"
                                + " from trunkline.migration")) {
            row.next();
            if (row.getInt(1) != row.getInt(3) || row.getInt(2) != row.getInt(3) || row.getInt(4) != 1) {
                throw new IllegalStateException("%d migrations of %d versions up to %d, %d installations"
                        .formatted(row.getInt(1), row.getInt(2), row.getInt(3), row.getInt(4)));
            }
        }
    }

    /** A consumer of one id, and a group in a process, are there once. */
    private static void requireRefusals(Address address) {
        try (Trunkline trunkline = address.open()) {
            trunkline.topics().create(TopicConfiguration.pubSub("t").withPartitions(1));
            ConsumerGroup<Value> first =
                    trunkline.createConsumerGroup("g", "t", Value.class).addConsumer("twin", delivery -> {});
            requireRefusal("twin", () -> first.addConsumer("twin", delivery -> {}));
            first.start(SubscriptionOptions.fromBeginning());
            ConsumerGroup<Value> second =
                    trunkline.createConsumerGroup("g", "t", Value.class).addConsumer("other", delivery -> {});
            requireRefusal("started in this process already", () -> second.start(SubscriptionOptions.fromBeginning()));
        }
    }

    private static void requireRefusal(String reason, Runnable deed) {
        try {
            deed.run();
        } catch (ConsumerGroupException e) {
            if (String.valueOf(e.getMessage()).contains(reason)) {
                return;
            }
            throw new IllegalStateException("it was refused for another reason than \"" + reason + "\"", e);
        }
        throw new IllegalStateException("it was not refused: \"" + reason + "\"");
    }
}
