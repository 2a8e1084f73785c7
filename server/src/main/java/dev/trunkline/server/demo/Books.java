package dev.trunkline.server.demo;

import dev.trunkline.Codec;
import dev.trunkline.server.Address;
import dev.trunkline.server.Sql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What the database says. */
record Books(Address address, Codec codec) {

    /** How a group is doing: how many messages are before it, and how many it has done. */
    record Group(String name, long lag, long done) {}

    record DeadLetter(String group, Order order, int attempts, String error) {
        @Override
        public String toString() {
            return order + ", given up by " + group + " after " + attempts + " attempts: " + error;
        }
    }

    @FunctionalInterface
    private interface RowReader<T> {
        T read(ResultSet row) throws SQLException;
    }

    List<Group> groups() throws SQLException {
        return list("groups", row -> new Group(row.getString(1), row.getLong(2), row.getLong(3)));
    }

    /** How many partitions, of all groups, each process holds that is believed to live. */
    Map<Long, Integer> holders() throws SQLException {
        Map<Long, Integer> holders = new TreeMap<>();
        list("holders", row -> holders.put(row.getLong(1), row.getInt(2)));
        return holders;
    }

    /** The orders in the business table. */
    List<Order> rows() throws SQLException {
        return list("orders", row -> new Order(row.getInt(1), row.getLong(2), row.getString(3), row.getInt(4)));
    }

    List<DeadLetter> deadLetters() throws SQLException {
        return list(
                "deadLetters",
                row -> new DeadLetter(
                        row.getString(1), codec.decode(row.getBytes(2), Order.class), row.getInt(3), row.getString(4)));
    }

    /** How many messages of each group wait behind a dead letter of their key. */
    Map<String, Long> parked() throws SQLException {
        Map<String, Long> parked = new TreeMap<>();
        list("parked", row -> parked.put(row.getString(1), row.getLong(2)));
        return parked;
    }

    private <T> List<T> list(String statement, RowReader<T> reader) throws SQLException {
        try (Connection connection = address.connect();
                Statement query = connection.createStatement();
                ResultSet row = query.executeQuery(Sql.of(Books.class, "demo.sql", statement, address.schema()))) {
            List<T> rows = new ArrayList<>();
            while (row.next()) {
                rows.add(reader.read(row));
            }
            return rows;
        }
    }
}
