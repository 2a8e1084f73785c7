package dev.trunkline.testing;

import dev.trunkline.Delivery;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.Trunkline;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A process that consumes a topic as a group until it is killed: {@code orders} as {@code g}, if it is not told others. It says
 * {@code started <process id>}, and its handler puts every message, whose text is a number, into the table {@code delivery}. Of {@link #HALT} it
 * dies at once, and of {@link #EXIT} as of {@code System.exit}; but not before it has said that it has started.
 */
public final class ConsumingProcess {

    public static final String TABLE = "create table delivery (id bigint generated always as identity primary key,"
            + " key text not null, number int not null, process bigint not null, epoch bigint not null)";

    public static final String STARTED = "started ";
    public static final String HALT = "-1";
    public static final String EXIT = "-2";

    private final PreparedStatement insert;
    private final ReentrantLock inserting = new ReentrantLock();
    private final CountDownLatch started = new CountDownLatch(1);

    private ConsumingProcess(Connection connection) throws SQLException {
        this.insert = connection.prepareStatement(
                "insert into delivery (key, number, process, epoch) values (?, ?::int, ?, ?)");
    }

    /** @param arguments a URL, user, password; and, or not, group and topic */
    public static void main(String[] arguments) throws Exception {
        String url = arguments[0];
        String user = arguments[1];
        String password = arguments[2];
        String group = arguments.length > 3 ? arguments[3] : "g";
        String topic = arguments.length > 3 ? arguments[4] : "orders";
        ConsumingProcess process = new ConsumingProcess(DriverManager.getConnection(url, user, password));
        Trunkline.builder()
                .url(url, user, password)
                .lease(Duration.ofSeconds(3))
                .open()
                .createConsumerGroup(group, topic, String.class)
                .addConsumer("a", process::handle)
                .start(SubscriptionOptions.fromBeginning());
        System.out.println(STARTED + ProcessHandle.current().pid());
        process.started.countDown();
        Thread.currentThread().join();
    }

    private void handle(Delivery<String> delivery) throws SQLException, InterruptedException {
        if (delivery.payload().equals(HALT)) {
            started.await();
            Runtime.getRuntime().halt(1);
        }
        if (delivery.payload().equals(EXIT)) {
            started.await();
            System.exit(1);
        }
        inserting.lock();
        try {
            insert.setString(1, delivery.key());
            insert.setString(2, delivery.payload());
            insert.setLong(3, ProcessHandle.current().pid());
            insert.setLong(4, delivery.epoch());
            insert.executeUpdate();
        } finally {
            inserting.unlock();
        }
    }
}
