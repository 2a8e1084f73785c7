package dev.trunkline.benchmarks;

import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/** Transactions of one business row and one message, on a connection of their own. */
final class BusinessTransactions extends RawInsert.OnConnection {

    private final Connection connection;
    private final PreparedStatement business;
    private final Messaging messaging;

    /** What says that the business row is there. */
    @FunctionalInterface
    interface Messaging {
        void send() throws SQLException;
    }

    private BusinessTransactions(Connection connection, String business, Messaging messaging) throws SQLException {
        super(connection);
        this.connection = connection;
        this.business = connection.prepareStatement(business);
        this.messaging = messaging;
    }

    static Crew.Worker publishing(Connection connection, Installation installation) throws SQLException {
        connection.setAutoCommit(false);
        return new BusinessTransactions(
                connection,
                installation.sql("insertBusiness", "published"),
                () -> installation.publisher().publish(connection, Samples.keyed()));
    }

    static Crew.Worker inserting(Connection connection, Installation installation) throws SQLException {
        connection.setAutoCommit(false);
        PreparedStatement outbox = connection.prepareStatement(installation.sql("insertOutbox"));
        return new BusinessTransactions(connection, installation.sql("insertBusiness", "inserted"), () -> {
            outbox.setInt(1, 1);
            outbox.setInt(2, Samples.partition());
            outbox.setString(3, Samples.key());
            outbox.setString(4, Samples.CONTENT_TYPE);
            outbox.setBytes(5, Samples.payload());
            outbox.executeUpdate();
        });
    }

    static void prepare(Installation installation) throws SQLException {
        installation.execute(installation.sql("createBusiness", "published"));
        installation.execute(installation.sql("createBusiness", "inserted"));
        installation.execute(installation.sql("createOutbox"));
    }

    @Override
    public long work() throws SQLException {
        business.setString(1, Samples.key());
        business.setBigDecimal(2, BigDecimal.valueOf(4_200, 2));
        business.executeUpdate();
        messaging.send();
        connection.commit();
        return 1;
    }
}
