package dev.trunkline.benchmarks.peer;

import dev.trunkline.benchmarks.database.Address;
import dev.trunkline.benchmarks.database.Query;
import dev.trunkline.benchmarks.database.Sql;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Messages that count the groups that are done with them, re-implemented from a published design: a trigger sets how many groups a
 * message needs, each group adds an acknowledgement and counts up, and who counts last marks the message completed. Where that design
 * left a choice, it is the cheaper one: whole batches, no foreign key, no counter in an index, room for updates in every page.
 */
public final class ReferenceCounts implements Peer {

    public static final String SCHEMA = "trunkline_bench_counts";
    public static final int DELETED_AT_ONCE = 10_000;

    private static final int BATCH = 500;
    /** With more, they lock each other's messages, skip those, and fetch more slowly. */
    private static final int CONNECTIONS = 4;

    public static final String WORDS =
            "reference counts: a message row with counters, an acknowledgement row for each group, %d messages a commit, %d connections"
                    .formatted(BATCH, CONNECTIONS);

    private static final Sql SQL = Sql.beside(ReferenceCounts.class, "reference-counts.sql");

    private final Address address;
    private final Fetch fetch;

    /** Executes the statement by which groups get messages. */
    @FunctionalInterface
    public interface Fetch {
        ResultSet execute(PreparedStatement statement) throws SQLException;
    }

    public ReferenceCounts(Address address) {
        this(address, PreparedStatement::executeQuery);
    }

    public ReferenceCounts(Address address, Fetch fetch) {
        this.address = address;
        this.fetch = fetch;
    }

    @Override
    public void clear(int groups) throws SQLException {
        Query.execute(address, SQL.get("create"), SQL.get("subscribe", groups));
    }

    /** Few consumers work for many groups, so that a group has one of them, and one has every so many-th group. */
    @Override
    public Member join() throws SQLException {
        List<CopyOnWriteArrayList<Group>> shares = new ArrayList<>();
        Pollers pollers = new Pollers(address, SQL.get("publish"), 1, (connection, share, handler) -> {
            Statements statements = new Statements(connection);
            return () -> poll(statements, shares.get(share));
        });
        return new Member() {
            private int groups;

            @Override
            public Sender sender() throws SQLException {
                return pollers.sender();
            }

            @Override
            public void send(Connection transaction, List<Letter> letters) throws SQLException {
                pollers.send(transaction, letters);
            }

            @Override
            public void consume(int group, Handler handler) throws SQLException {
                int share = groups++ % CONNECTIONS;
                Group consumed = new Group(group(group), handler, new Postponed());
                if (share < shares.size()) {
                    shares.get(share).add(consumed);
                } else {
                    shares.add(new CopyOnWriteArrayList<>(List.of(consumed)));
                    pollers.consume(share, handler);
                }
            }

            @Override
            public void close() {
                pollers.close();
            }
        };
    }

    @Override
    public void close() {}

    /** Deletes messages that all groups have done so long ago, some at a time. Returns how many, and how many acknowledgements of theirs. */
    public Deleted delete(Connection connection, Duration ago) throws SQLException {
        List<Long> gone = new ArrayList<>();
        try (PreparedStatement delete = connection.prepareStatement(SQL.get("delete", DELETED_AT_ONCE))) {
            delete.setDouble(1, ago.toMillis() / 1e3);
            try (ResultSet row = delete.executeQuery()) {
                while (row.next()) {
                    gone.add(row.getLong(1));
                }
            }
        }
        try (PreparedStatement delete = connection.prepareStatement(SQL.get("deleteAcknowledgements"))) {
            delete.setArray(1, connection.createArrayOf("int8", gone.toArray()));
            return new Deleted(gone.size(), delete.executeUpdate());
        }
    }

    /** What was deleted. */
    public record Deleted(int messages, int acknowledgements) {}

    /** How many acknowledgements of a group there are. */
    public long acknowledged(Connection connection, int group) throws SQLException {
        return Query.number(connection, SQL.get("acknowledgedBy"), group(group));
    }

    private static String group(int number) {
        return "group-" + number;
    }

    private record Group(String name, Handler handler, Postponed postponed) {}

    private int poll(Statements statements, List<Group> groups) throws SQLException {
        int found = 0;
        for (Group group : groups) {
            found += poll(statements, group);
        }
        return found;
    }

    private int poll(Statements statements, Group group) throws SQLException {
        statements.fetch.setArray(1, statements.ids(group.postponed().ids()));
        statements.fetch.setString(2, group.name());
        Batch batch = Batch.take(fetch.execute(statements.fetch), group.handler());
        List<Long> done = group.postponed().settle(batch);
        if (!done.isEmpty()) {
            statements.acknowledge.setString(1, group.name());
            statements.acknowledge.setArray(2, statements.ids(done));
            statements.acknowledge.executeUpdate();
            statements.complete.setArray(1, statements.ids(done));
            statements.complete.executeUpdate();
        }
        statements.connection.commit();
        return batch.size();
    }

    private static final class Statements {
        private final Connection connection;
        private final PreparedStatement fetch;
        private final PreparedStatement acknowledge;
        private final PreparedStatement complete;

        Statements(Connection connection) throws SQLException {
            this.connection = connection;
            connection.setAutoCommit(false);
            this.fetch = connection.prepareStatement(SQL.get("fetch", BATCH));
            this.acknowledge = connection.prepareStatement(SQL.get("acknowledge"));
            this.complete = connection.prepareStatement(SQL.get("complete"));
        }

        Array ids(List<Long> ids) throws SQLException {
            return connection.createArrayOf("int8", ids.toArray());
        }
    }
}
