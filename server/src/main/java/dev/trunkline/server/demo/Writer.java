package dev.trunkline.server.demo;

import dev.trunkline.Publisher;
import dev.trunkline.server.Address;
import dev.trunkline.server.Sql;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Publishes an order every now and then until told to stop, and returns them all: on its own, or in a business transaction, a row
 * and its message together or not at all.
 */
record Writer(int number, Address address, Publisher publisher, CountDownLatch stop) implements Callable<List<Order>> {

    static final int WRITERS = 5;

    @Override
    public List<Order> call() throws SQLException, InterruptedException {
        int pause = number == Order.UNLUCKY_WRITER ? 100 : 3;
        List<Order> orders = new ArrayList<>();
        try (Connection connection = address.connect()) {
            connection.setAutoCommit(false);
            while (!stop.await(pause, TimeUnit.MILLISECONDS)) {
                Order order = Order.next(number, orders.size() + 1L);
                if (order.inTransaction()) {
                    transact(connection, order);
                } else {
                    publisher.publish(order.message());
                }
                orders.add(order);
            }
            return orders;
        } finally {
            stop.countDown(); // a writer that failed ends the demo
        }
    }

    private void transact(Connection connection, Order order) throws SQLException {
        try (PreparedStatement insert =
                connection.prepareStatement(Sql.of(Writer.class, "demo.sql", "insertOrder", address.schema()))) {
            insert.setInt(1, order.writer());
            insert.setLong(2, order.number());
            insert.setString(3, order.customer());
            insert.setInt(4, order.cents());
            insert.executeUpdate();
        }
        publisher.publish(connection, order.message());
        if (order.rolledBack()) {
            connection.rollback();
        } else {
            connection.commit();
        }
    }
}
