package dev.trunkline.server.demo;

import dev.trunkline.Publisher;
import dev.trunkline.server.Address;
import dev.trunkline.server.Sql;
import dev.trunkline.server.demo.Sent.Outcome;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A business transaction: a row and its message, together or not at all. Every fifth is rolled back. */
final class Shop implements Publishing {

    private static final int ROLL_BACK_EVERY = 5;
    /** Before the next try to connect. */
    private static final Duration PAUSE = Duration.ofMillis(100);

    private final Address address;
    private final Publisher publisher;
    private final String insertOrder = Sql.of(Shop.class, "demo.sql", "insertOrder");
    private @Nullable Connection connection;

    Shop(Address address, Publisher publisher) {
        this.address = address;
        this.publisher = publisher;
    }

    @Override
    public Outcome publish(Order order) {
        Outcome ifItFails = Outcome.ROLLED_BACK;
        try {
            Connection transaction = transaction();
            insert(transaction, order);
            publisher.publish(transaction, Publishing.message(order));
            if (order.number() % ROLL_BACK_EVERY == 0) {
                transaction.rollback();
                return Outcome.ROLLED_BACK;
            }
            ifItFails = Outcome.UNKNOWN;
            transaction.commit();
            return Outcome.COMMITTED;
        } catch (SQLException e) {
            close();
            LockSupport.parkNanos(PAUSE.toNanos());
            return ifItFails;
        }
    }

    private Connection transaction() throws SQLException {
        Connection open = connection;
        if (open == null) {
            open = address.connect();
            open.setAutoCommit(false);
            connection = open;
        }
        return open;
    }

    private void insert(Connection transaction, Order order) throws SQLException {
        try (PreparedStatement statement = transaction.prepareStatement(insertOrder)) {
            statement.setInt(1, order.writer());
            statement.setLong(2, order.number());
            statement.setString(3, order.customer());
            statement.setInt(4, order.cents());
            statement.executeUpdate();
        }
    }

    @Override
    public void close() {
        Connection open = connection;
        connection = null;
        try {
            if (open != null) {
                open.close();
            }
        } catch (SQLException e) {
            // It was lost anyway.
        }
    }
}
