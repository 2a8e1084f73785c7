package dev.trunkline.upkeep;

import dev.trunkline.Observer;
import dev.trunkline.TrunklineException;
import dev.trunkline.database.Database;
import dev.trunkline.database.Failure;
import dev.trunkline.database.Loop;
import dev.trunkline.database.Statements;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the steps of upkeep now and then, if it is this process's turn: one does it for all, and another takes over when that is gone. Each step is
 * safe to repeat. What is locked is left for the next time.
 */
public final class Upkeep implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Upkeep.class);
    private static final Duration INTERVAL = Duration.ofSeconds(5);

    private final Database database;
    private final Statements statements;
    private final Observer observer;
    private final Loop loop;
    private final String who = UUID.randomUUID().toString();
    private boolean hasTurn;
    /** The first step that failed, with the others. */
    private @Nullable TrunklineException trouble;

    public Upkeep(Database database, Observer observer) {
        this.database = database;
        this.observer = observer;
        this.statements = Statements.beside(Upkeep.class, "upkeep.sql", database.schema());
        this.loop = new Loop("trunkline-upkeep", this::step);
    }

    public Upkeep start() {
        loop.start();
        return this;
    }

    private Duration step() {
        boolean had = hasTurn;
        hasTurn = ask("takeTurn");
        if (hasTurn != had) {
            log.debug("this process {} upkeep", hasTurn ? "does the" : "no longer does the");
        }
        if (hasTurn) {
            runOnce();
        }
        return INTERVAL.plusMillis(ThreadLocalRandom.current().nextLong(1_000));
    }

    /** All steps, once. One that fails does not keep the others from being done. */
    public void runOnce() {
        trouble = null;
        long began = System.nanoTime();
        try {
            runAll();
        } catch (TrunklineException e) {
            trouble = e;
        }
        observer.upkeep(Duration.ofNanos(System.nanoTime() - began), trouble);
        if (trouble != null) {
            throw trouble;
        }
    }

    private void runAll() {
        for (int topic : topics("topicsToRoll")) {
            run("roll", topic);
        }
        for (int topic : topics("topicsToTrim")) {
            while (run("trim", topic)) {
                log.info("dropped the oldest segment of topic number {}: its retention is over", topic);
            }
        }
        run("advance outbox", null);
        run("match topics", null);
        run("watch groups", null);
        if (takePruning()) {
            run("clear outbox", null);
            run("prune marks", null);
            run("rotate idempotency", null);
            run("rotate progress", null);
            run("sweep groups", null);
        }
    }

    /** About once a minute, whoever does it: sweeps are counted. */
    private boolean takePruning() {
        return database.call(connection -> {
            try (PreparedStatement statement = connection.prepareStatement(statements.get("takePruning"));
                    ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getBoolean(1);
            }
        });
    }

    private List<Integer> topics(String name) {
        return database.call(connection -> {
            try (PreparedStatement statement = connection.prepareStatement(statements.get(name));
                    ResultSet row = statement.executeQuery()) {
                List<Integer> topics = new ArrayList<>();
                while (row.next()) {
                    topics.add(row.getInt(1));
                }
                return topics;
            }
        });
    }

    /** Runs a step. Whether it did something. */
    private boolean run(String step, @Nullable Integer topic) {
        try {
            return database.attempt(connection -> {
                try (PreparedStatement statement = connection.prepareStatement(statements.get("step"))) {
                    statement.setString(1, step);
                    statement.setObject(2, topic, Types.INTEGER);
                    try (ResultSet row = statement.executeQuery()) {
                        row.next();
                        return row.getObject(1) != null;
                    }
                }
            });
        } catch (SQLException e) {
            if (Failure.of(e) == Failure.LOCKED) {
                log.debug("upkeep step {} of topic number {} is put off: {}", step, topic, e.getMessage());
                return false;
            }
            TrunklineException explained = Failure.explain(e);
            if (trouble == null) {
                trouble = explained;
            } else {
                trouble.addSuppressed(explained);
            }
            return false;
        }
    }

    /** About the turn. Whether it is this process's. */
    private boolean ask(String name) {
        return database.call(connection -> {
            try (PreparedStatement statement = connection.prepareStatement(statements.get(name))) {
                statement.setString(1, who);
                try (ResultSet row = statement.executeQuery()) {
                    row.next();
                    return row.getBoolean(1);
                }
            }
        });
    }

    /** Another process may do the upkeep at once. */
    @Override
    public void close() {
        loop.close();
        if (hasTurn) {
            try {
                ask("leaveTurn");
            } catch (TrunklineException e) {
                log.debug("others will see after a while that this process does no more upkeep: {}", e.getMessage());
            }
        }
    }
}
