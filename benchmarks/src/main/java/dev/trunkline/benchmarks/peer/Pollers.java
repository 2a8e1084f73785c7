package dev.trunkline.benchmarks.peer;

import dev.trunkline.benchmarks.database.Address;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;

/** The part of a process in a design that is tables and threads: publishers insert, and each consumer asks again and again. */
final class Pollers implements Member {

    private static final long NAP = 1_000_000;
    /** As a pool would have; more publishers share them. */
    private static final int MOST_SENDERS = 32;

    private final Address address;
    private final String publish;
    private final int threads;
    private final Hire hire;
    private final List<Inserting> senders = new ArrayList<>();
    private final BlockingQueue<Inserting> idle = new LinkedBlockingQueue<>();
    private final Loops consumers = new Loops();

    /** What a consumer does on its connection. */
    @FunctionalInterface
    interface Poller {
        /** Looks for messages, handles them and commits. Returns how many it has found. */
        int poll() throws Exception;
    }

    /** Prepares a consumer. */
    @FunctionalInterface
    interface Hire {
        Poller hire(Connection connection, int group, Handler handler) throws SQLException;
    }

    /**
     * @param publish inserts an array of keys and an array of payloads
     * @param threads consumers of a group
     */
    Pollers(Address address, String publish, int threads, Hire hire) {
        this.address = address;
        this.publish = publish;
        this.threads = threads;
        this.hire = hire;
    }

    @Override
    public Sender sender() throws SQLException {
        if (senders.size() < MOST_SENDERS) {
            senders.add(new Inserting(address.connect(), publish));
            idle.add(senders.getLast());
        }
        return letters -> {
            Inserting sender = idle.take();
            try {
                sender.send(letters);
            } finally {
                idle.add(sender);
            }
        };
    }

    @Override
    public void send(Connection transaction, List<Letter> letters) throws SQLException {
        new Inserting(transaction, publish).send(letters);
    }

    @Override
    public void consume(int group, Handler handler) throws SQLException {
        for (int i = 0; i < threads; i++) {
            Connection connection = address.connect();
            Poller poller = hire.hire(connection, group, handler);
            consumers.start(connection, () -> {
                if (poller.poll() == 0) {
                    LockSupport.parkNanos(NAP);
                }
            });
        }
    }

    @Override
    public void close() {
        consumers.close();
        senders.forEach(Inserting::close);
    }

    /** Publishes on a connection of its own. */
    private record Inserting(Connection connection, PreparedStatement statement) {
        Inserting(Connection connection, String sql) throws SQLException {
            this(connection, connection.prepareStatement(sql));
        }

        void send(List<Letter> letters) throws SQLException {
            String[] keys = letters.stream().map(Letter::key).toArray(String[]::new);
            byte[][] payloads = letters.stream().map(Letter::payload).toArray(byte[][]::new);
            statement.setArray(1, connection.createArrayOf("text", keys));
            statement.setArray(2, connection.createArrayOf("bytea", payloads));
            statement.execute();
        }

        void close() {
            try {
                connection.close();
            } catch (SQLException e) {
                throw new IllegalStateException("cannot close a publisher's connection", e);
            }
        }
    }
}
