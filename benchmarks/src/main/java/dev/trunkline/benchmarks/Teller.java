package dev.trunkline.benchmarks;

import dev.trunkline.benchmarks.database.Sql;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.concurrent.ThreadLocalRandom;

/** Small transactions of a bank, on a connection of its own: an account changes, another is read, and a row says what was done. */
final class Teller extends RawInsert.OnConnection {

    static final int ACCOUNTS = 100_000;

    private final Connection connection;
    private final PreparedStatement change;
    private final PreparedStatement read;
    private final PreparedStatement note;

    Teller(Connection connection) throws SQLException {
        super(connection);
        this.connection = connection;
        connection.setAutoCommit(false);
        Sql sql = new Sql("");
        this.change = connection.prepareStatement(sql.get("changeAccount"));
        this.read = connection.prepareStatement(sql.get("readAccount"));
        this.note = connection.prepareStatement(sql.get("noteChange"));
    }

    static void prepare(Installation installation) throws SQLException {
        installation.execute(installation.sql("createAccounts"));
        installation.execute(installation.sql("fillAccounts", ACCOUNTS));
        installation.execute(installation.sql("analyzeAccounts"));
    }

    @Override
    public long work() throws SQLException {
        int account = account();
        int amount = ThreadLocalRandom.current().nextInt(-5_000, 5_001);
        change.setInt(1, amount);
        change.setInt(2, account);
        change.executeUpdate();
        read.setInt(1, account());
        try (ResultSet row = read.executeQuery()) {
            row.next();
        }
        note.setInt(1, account);
        note.setInt(2, amount);
        note.executeUpdate();
        connection.commit();
        return 1;
    }

    private static int account() {
        return ThreadLocalRandom.current().nextInt(ACCOUNTS) + 1;
    }
}
