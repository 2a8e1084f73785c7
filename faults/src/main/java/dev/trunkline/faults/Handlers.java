package dev.trunkline.faults;

import dev.trunkline.Delivery;
import dev.trunkline.LogMessage;
import dev.trunkline.checker.Event;
import dev.trunkline.checker.Event.Outcome;
import dev.trunkline.checker.Journal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Objects;
import java.util.Optional;

/** What the consumers of a process do with a message: they write it down, and fail now and then. */
final class Handlers {

    /** One of so many handlings fails and is tried again. */
    private static final int FAILURES = 200;

    private final Journal journal;
    private final Path journals;
    private final String name;
    private final boolean steady;

    Handlers(Journal journal, Path journals, String name) {
        this(journal, journals, name, false);
    }

    private Handlers(Journal journal, Path journals, String name, boolean steady) {
        this.steady = steady;
        this.journal = journal;
        this.journals = journals;
        this.name = name;
    }

    /** The same, but they do not fail: a key that fails under a flood is parked, and works its line off slowly. */
    Handlers steady() {
        return new Handlers(journal, journals, name, true);
    }

    /** Where it is noted that a message is no poison any more. */
    static Path cure(Path journals, Poison poison) {
        return journals.resolve(poison.value() + ".cured");
    }

    /** Does nothing that the database knows of. */
    void handle(Delivery<Value> delivery) throws Exception {
        journal.end(begin(delivery), Outcome.OK);
    }

    /** Writes a row into the table {@code effect}. */
    void handle(Delivery<Value> delivery, Connection connection) throws Exception {
        String call = begin(delivery);
        LogMessage message = delivery.message();
        Optional<Fatal> fatal = Fatal.find(delivery.payload().text());
        if (fatal.isPresent()) {
            fatal.get().act(Fatal.Moment.FETCHED, journals);
        }
        try (PreparedStatement insert = connection.prepareStatement(
                "insert into effect (topic, partition, \"offset\", epoch, value) values (?, ?, ?, ?, ?)")) {
            insert.setString(1, message.topic());
            insert.setInt(2, message.partition());
            insert.setLong(3, message.offset());
            insert.setLong(4, delivery.epoch());
            insert.setString(5, delivery.payload().text());
            insert.executeUpdate();
        } catch (SQLException | RuntimeException e) {
            journal.end(call, Outcome.FAILED);
            throw e;
        }
        if (fatal.isPresent()) {
            fatal.get().act(Fatal.Moment.DONE, journals);
            fatal.get().actWhenCommitted(journals);
        }
        journal.end(call, Outcome.OK);
    }

    /** Never gets anything done. */
    void stick(Delivery<Value> delivery) throws InterruptedException {
        String call = start(delivery);
        try {
            Thread.sleep(Long.MAX_VALUE);
        } finally {
            journal.end(call, Outcome.FAILED);
        }
    }

    private String begin(Delivery<Value> delivery) throws Exception {
        String call = start(delivery);
        try {
            Optional<Poison> poison = Poison.find(delivery.payload().text());
            if (poison.isPresent() && isAtWork(poison.get(), delivery.group())) {
                poison.get().act();
            }
            if (!steady && fails(delivery)) {
                throw new IllegalStateException("it fails now and then");
            }
        } catch (Exception | Error e) {
            journal.end(call, Outcome.FAILED);
            throw e;
        }
        return call;
    }

    /** By what it is handled for: the same messages fail in every run with the same seed. */
    private static boolean fails(Delivery<Value> delivery) {
        int chance = Objects.hash(delivery.group(), delivery.payload().text(), delivery.attempt());
        return Math.floorMod(chance * 0x9E3779B9, FAILURES) == 0;
    }

    private boolean isAtWork(Poison poison, String group) {
        return poison.group().equals(group) && !Files.exists(cure(journals, poison));
    }

    private String start(Delivery<Value> delivery) {
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
                delivery.payload().text()));
        return call;
    }
}
