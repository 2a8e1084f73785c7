package dev.trunkline.log;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.trunkline.testing.TestDatabase;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/** A pool that counts what is borrowed, and can hold back somebody who has his answer, before he can tell anyone. */
final class HeldPool extends HikariDataSource {

    private final AtomicInteger borrowed = new AtomicInteger();
    private final AtomicReference<Runnable> hold = new AtomicReference<>(() -> {});
    private CountDownLatch held = new CountDownLatch(0);
    private CountDownLatch gate = new CountDownLatch(0);

    HeldPool(TestDatabase database) {
        super(config(database));
    }

    private static HikariConfig config(TestDatabase database) {
        HikariConfig config = new HikariConfig();
        config.setDataSource(database.dataSource());
        config.setMaximumPoolSize(8);
        config.setMinimumIdle(0);
        return config;
    }

    /** How many connections were borrowed: each for one statement, but for two when a topic is looked up. */
    int borrowed() {
        return borrowed.get();
    }

    /** The next who has his answer waits; those after him do not. */
    void holdReply() {
        CountDownLatch there = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        held = there;
        gate = go;
        hold.set(() -> {
            there.countDown();
            await(go);
        });
    }

    void awaitHeld() {
        await(held);
    }

    void letGo() {
        gate.countDown();
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public Connection getConnection() throws SQLException {
        borrowed.incrementAndGet();
        Connection connection = super.getConnection();
        return (Connection) Proxy.newProxyInstance(
                HeldPool.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("close")) {
                        hold.getAndSet(() -> {}).run();
                    }
                    try {
                        return method.invoke(connection, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}
