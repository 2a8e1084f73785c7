package dev.trunkline.benchmarks;

import dev.trunkline.benchmarks.database.Query;
import java.sql.Connection;
import java.sql.SQLException;

/** Committed outbox rows that nobody has relayed, made as quickly as may be: this is never what is measured. */
final class Backlog {

    private static final int THREADS = 4;

    private Backlog() {}

    /** So many rows, in transactions of so many messages. */
    static void make(Workbench bench, Installation installation, int rows, int perTransaction) throws Exception {
        try (Crew crew = Crew.of(THREADS, () -> new Filler(bench.address().connect(), installation, perTransaction))) {
            crew.times(rows / perTransaction);
        }
    }

    private static final class Filler extends RawInsert.OnConnection {
        private final Connection connection;
        private final Installation installation;
        private final int messages;

        Filler(Connection connection, Installation installation, int messages) throws SQLException {
            super(connection);
            this.connection = connection;
            this.installation = installation;
            this.messages = messages;
            Query.execute(connection, "set synchronous_commit = off");
            connection.setAutoCommit(false);
        }

        @Override
        public long work() throws SQLException {
            installation.publisher().publishAll(connection, Samples.keyed(messages));
            connection.commit();
            return messages;
        }
    }
}
