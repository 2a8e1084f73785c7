package dev.trunkline.testing;

import dev.trunkline.Message;
import dev.trunkline.Trunkline;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A process that publishes to the topic {@code orders} until it is killed, and says what it does: {@code begin <prefix>
 * <nanoTime>} before and {@code ok <prefix> <nanoTime>} after each call. The messages of a call are {@code
 * <prefix>-0}, {@code <prefix>-1} and so on; those that begin with {@code keyed} have themselves as idempotency key.
 */
public final class PublishingProcess {

    private static final int BATCH = 10;

    private PublishingProcess() {}

    public static void main(String[] arguments) throws Exception {
        String url = arguments[0];
        String user = arguments[1];
        String password = arguments[2];
        String name = arguments[3];
        Trunkline trunkline = Trunkline.open(url, user, password);
        Thread.ofPlatform()
                .start(() -> repeat("all-" + name, prefix -> {
                    trunkline.publisher().publishAll(messages(prefix));
                }));
        Thread.ofPlatform()
                .start(() -> repeat("keyed-" + name, prefix -> {
                    trunkline.publisher().publishAll(messages(prefix));
                }));
        Connection connection = DriverManager.getConnection(url, user, password);
        connection.setAutoCommit(false);
        repeat("transaction-" + name, prefix -> {
            List<Message> messages = messages(prefix);
            trunkline.publisher().publish(connection, messages.get(0));
            trunkline.publisher().publish(connection, messages.get(1));
            trunkline.publisher().publishAll(connection, messages.subList(2, BATCH));
            connection.commit();
        });
    }

    /** The messages of a call, which whoever repeats it makes again. */
    public static List<Message> messages(String prefix) {
        return values(prefix).stream()
                .map(value -> {
                    Message message = Message.of("orders", value).withKey("key-" + Math.floorMod(value.hashCode(), 5));
                    return value.startsWith("keyed") ? message.withIdempotencyKey(value) : message;
                })
                .toList();
    }

    private static List<String> values(String prefix) {
        return IntStream.range(0, BATCH).mapToObj(i -> prefix + "-" + i).toList();
    }

    private static void repeat(String name, Step step) {
        for (int i = 0; ; i++) {
            String prefix = name + "-" + i;
            say("begin " + prefix);
            try {
                step.run(prefix);
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
            say("ok " + prefix);
        }
    }

    private static synchronized void say(String what) {
        System.out.println(what + " " + System.nanoTime());
    }

    @FunctionalInterface
    private interface Step {
        void run(String prefix) throws SQLException;
    }
}
