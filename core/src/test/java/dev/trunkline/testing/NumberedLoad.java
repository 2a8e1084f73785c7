package dev.trunkline.testing;

import dev.trunkline.DatabaseUnavailableException;
import dev.trunkline.Message;
import dev.trunkline.OutcomeUnknownException;
import dev.trunkline.Trunkline;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/**
 * A publisher of numbers, 0, 1, 2, … for each of some keys, that goes on through whatever happens to the database: each number is
 * published until it is acknowledged, which an idempotency key makes one message.
 */
public final class NumberedLoad implements AutoCloseable {

    private static final long BREATH = 1_000_000;

    private final Trunkline trunkline;
    private final String topic;
    private final int keys;
    private final Map<String, Integer> acknowledged = new ConcurrentHashMap<>();
    private final Thread thread;
    private volatile boolean stopped;

    public NumberedLoad(Trunkline trunkline, String topic, int keys) {
        this.trunkline = trunkline;
        this.topic = topic;
        this.keys = keys;
        this.thread = Thread.ofPlatform().name("numbered-load").unstarted(this::run);
    }

    public NumberedLoad start() {
        thread.start();
        return this;
    }

    private void run() {
        for (int number = 0; !stopped; number++) {
            for (int key = 0; key < keys; key++) {
                publish("k" + key, number);
            }
            LockSupport.parkNanos(BREATH);
        }
    }

    private void publish(String key, int number) {
        Message message =
                Message.of(topic, Integer.toString(number)).withKey(key).withIdempotencyKey(key + "/" + number);
        while (true) {
            try {
                trunkline.publisher().publish(message);
                acknowledged.put(key, number + 1);
                return;
            } catch (DatabaseUnavailableException | OutcomeUnknownException e) {
                LockSupport.parkNanos(BREATH);
            }
        }
    }

    /** How many messages of each key were acknowledged. */
    public Map<String, Integer> acknowledged() {
        return new TreeMap<>(acknowledged);
    }

    /** How many messages were acknowledged. */
    public long count() {
        return acknowledged.values().stream().mapToLong(Integer::longValue).sum();
    }

    /** Lets the last number of all keys be acknowledged. */
    public void stop() {
        stopped = true;
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        stop();
    }
}
