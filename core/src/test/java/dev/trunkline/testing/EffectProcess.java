package dev.trunkline.testing;

import dev.trunkline.Delivery;
import dev.trunkline.RetryPolicy;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.Trunkline;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;

/**
 * A process that consumes the topic {@code orders} as the group {@code g} in transactions, until it is killed. It says {@code started
 * <process id>}. Its handler puts every message, whose text is a number, into the table {@code effect}; it fails for those in the
 * table {@code poison}, and for {@link #WAIT} it says {@code waiting} and goes on when it is sent a line.
 */
public final class EffectProcess {

    public static final String TABLES = "create table effect (id bigint generated always as identity primary key,"
            + " key text not null, number int not null, epoch bigint not null, unique (key, number));"
            + "create table poison (key text not null, number int not null)";

    public static final String STARTED = "started ";
    public static final String WAITING = "waiting";
    public static final int WAIT = -1;

    /** Often enough that a key is parked while it is tried again, and not so often that it does not become a dead letter. */
    private static final RetryPolicy RETRY = new RetryPolicy(15, Duration.ofMillis(10), Duration.ofMillis(40));

    private final BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));

    private EffectProcess() {}

    /** @param arguments a URL for the work, one for beats, user, password */
    public static void main(String[] arguments) throws Exception {
        Trunkline trunkline = Trunkline.builder()
                .url(arguments[0], arguments[2], arguments[3])
                .directUrl(arguments[1])
                .lease(Duration.ofSeconds(3))
                .backgroundWork(false)
                .open();
        consume(trunkline);
        System.out.println(STARTED + ProcessHandle.current().pid());
        Thread.currentThread().join();
    }

    /** Does what the process does. */
    public static void consume(Trunkline trunkline) {
        trunkline
                .createConsumerGroup("g", "orders", String.class)
                .addTransactionalConsumer("a", new EffectProcess()::handle)
                .start(SubscriptionOptions.fromBeginning().withWindow(40).withRetry(RETRY));
    }

    private void handle(Delivery<String> delivery, Connection connection) throws Exception {
        int number = Integer.parseInt(delivery.payload());
        try (PreparedStatement insert =
                connection.prepareStatement("insert into effect (key, number, epoch) values (?, ?, ?)")) {
            insert.setString(1, delivery.key());
            insert.setInt(2, number);
            insert.setLong(3, delivery.epoch());
            insert.executeUpdate();
        }
        if (number == WAIT && delivery.epoch() == 1) {
            System.out.println(WAITING);
            in.readLine();
        }
        if (isPoison(connection, delivery.key(), number)) {
            throw new IllegalStateException(delivery + " is poison");
        }
    }

    private static boolean isPoison(Connection connection, String key, int number) throws SQLException {
        try (PreparedStatement select =
                connection.prepareStatement("select exists (select from poison where key = ? and number = ?)")) {
            select.setString(1, key);
            select.setInt(2, number);
            try (ResultSet row = select.executeQuery()) {
                row.next();
                return row.getBoolean(1);
            }
        }
    }
}
