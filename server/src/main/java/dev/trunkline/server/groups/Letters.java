package dev.trunkline.server.groups;

import dev.trunkline.ConsumerGroupException;
import dev.trunkline.DeadLetters;
import dev.trunkline.GroupStatus;
import dev.trunkline.Trunkline;
import dev.trunkline.server.Address;
import dev.trunkline.server.Progress;
import dev.trunkline.server.Sql;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** The dead letters of one group, some or all of which are to be redriven or discarded. */
record Letters(Address address, String group, String topic, DeadLetters all) {

    private static final int PAGE = 1_000;

    /** @throws ConsumerGroupException if there is no such group, or it is cancelled: nobody carries out what is decided for it */
    static Letters of(Address address, Trunkline trunkline, String group, String topic) {
        if (trunkline
                .admin()
                .find(group, topic)
                .filter(state -> state.status() != GroupStatus.CANCELLED)
                .isEmpty()) {
            throw new ConsumerGroupException("there is no group \"" + group + "\" of topic \"" + topic
                    + "\", or it is cancelled: see the list, trunkline groups");
        }
        return new Letters(
                address,
                group,
                topic,
                trunkline.createConsumerGroup(group, topic, byte[].class).deadLetters());
    }

    /**
     * What a decision is about.
     *
     * @param keys that they stop
     * @param waiting messages that wait behind them on these keys
     */
    record Plan(long deadLetters, long keys, long waiting) {}

    /** @param ids null: all */
    Plan plan(@Nullable List<Long> ids) throws SQLException {
        try (Connection connection = address.connect();
                PreparedStatement statement = prepare(connection, "plan")) {
            for (int place = 3; place <= 4; place++) {
                statement.setArray(place, ids == null ? null : connection.createArrayOf("int8", ids.toArray()));
            }
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return new Plan(row.getLong(1), row.getLong(2), row.getLong(3));
            }
        }
    }

    /** Decides on all of them, some at a time. Returns on how many. */
    long each(ToLongFunction<Collection<Long>> decide, Progress progress) throws SQLException {
        long total = plan(null).deadLetters();
        long decided = 0;
        List<Long> ids = ids(0);
        while (!ids.isEmpty()) {
            decided += decide.applyAsLong(ids);
            progress.show(decided + " of " + total + " dead letters");
            ids = ids(ids.getLast());
        }
        return decided;
    }

    private List<Long> ids(long after) throws SQLException {
        try (Connection connection = address.connect();
                PreparedStatement statement = prepare(connection, "ids")) {
            statement.setLong(3, after);
            statement.setInt(4, PAGE);
            List<Long> ids = new ArrayList<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    ids.add(row.getLong(1));
                }
            }
            return ids;
        }
    }

    private PreparedStatement prepare(Connection connection, String name) throws SQLException {
        PreparedStatement statement =
                connection.prepareStatement(Sql.of(Letters.class, "letters.sql", name, address.schema()));
        statement.setString(1, group);
        statement.setString(2, topic);
        return statement;
    }
}
