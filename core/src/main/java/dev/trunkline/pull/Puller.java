package dev.trunkline.pull;

import dev.trunkline.Batch;
import dev.trunkline.Codec;
import dev.trunkline.Delivery;
import dev.trunkline.LogMessage;
import dev.trunkline.PullConsumer;
import dev.trunkline.PullOptions;
import dev.trunkline.log.Bell;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** {@link PullConsumer}: decodes what is popped, and waits. */
public final class Puller<T> implements PullConsumer<T> {

    private static final Logger log = LoggerFactory.getLogger(Puller.class);

    private final String group;
    private final String topic;
    private final Class<T> type;
    private final Codec codec;
    private final Bell bell;
    private final Duration pollInterval;
    private final PullTable table;
    private final int subscription;

    public Puller(
            String group,
            String topic,
            Class<T> type,
            PullOptions options,
            Codec codec,
            Bell bell,
            Duration pollInterval,
            PullTable table) {
        this.group = group;
        this.topic = topic;
        this.type = type;
        this.codec = codec;
        this.bell = bell;
        this.pollInterval = pollInterval;
        this.table = table;
        this.subscription = table.subscribe(group, topic, options);
    }

    @Override
    public String group() {
        return group;
    }

    @Override
    public String topic() {
        return topic;
    }

    @Override
    public Optional<Batch<T>> pop(int max, Duration lease) {
        while (true) {
            Optional<PullTable.Popped> popped = table.pop(group, topic, max, lease);
            if (popped.isEmpty()) {
                return Optional.empty();
            }
            List<Delivery<T>> deliveries = decode(popped.get());
            if (!deliveries.isEmpty()) {
                return Optional.of(new Batch<>(
                        popped.get().token(), deliveries, popped.get().expiresAt()));
            }
        }
    }

    @Override
    public Optional<Batch<T>> pop(int max, Duration lease, Duration wait) throws InterruptedException {
        long deadline = System.nanoTime() + wait.toNanos();
        while (true) {
            long heard = bell.count();
            Optional<Batch<T>> batch = pop(max, lease);
            long left = deadline - System.nanoTime();
            if (batch.isPresent() || left <= 0) {
                return batch;
            }
            bell.await(heard, Math.min(left, pollInterval.toNanos()));
        }
    }

    /** What can not be decoded becomes a dead letter, as with handlers; what comes after it on its key may be handed back with it. */
    private List<Delivery<T>> decode(PullTable.Popped popped) {
        List<Delivery<T>> deliveries = new ArrayList<>();
        Set<Long> left = null;
        for (PullTable.Message next : popped.messages()) {
            LogMessage message = next.message();
            if (left != null && !left.contains(message.offset())) {
                continue;
            }
            try {
                deliveries.add(new Delivery<>(message, decode(message), group, next.attempt(), popped.epoch()));
            } catch (RuntimeException e) {
                String error = "the payload of " + message + " (" + message.contentType() + ") is no " + type.getName()
                        + ": " + e.getMessage();
                log.warn("{}: {}", group, error);
                left = new HashSet<>(reject(popped.token(), List.of(message.offset()), error));
            }
        }
        return deliveries;
    }

    private T decode(LogMessage message) {
        if (type == byte[].class) {
            return type.cast(message.payload());
        }
        if (type == String.class) {
            return type.cast(new String(message.payload(), StandardCharsets.UTF_8));
        }
        return codec.decode(message.payload(), type);
    }

    @Override
    public void ack(String token) {
        table.ack(subscription, token, null);
    }

    @Override
    public List<Long> ack(String token, Collection<Long> offsets) {
        return table.ack(subscription, token, offsets);
    }

    @Override
    public void ack(Connection connection, String token) throws SQLException {
        table.ack(connection, subscription, token, null);
    }

    @Override
    public List<Long> ack(Connection connection, String token, Collection<Long> offsets) throws SQLException {
        return table.ack(connection, subscription, token, offsets);
    }

    @Override
    public void nack(String token, Duration delay, String error) {
        table.nack(subscription, token, null, delay, error);
    }

    @Override
    public List<Long> nack(String token, Collection<Long> offsets, Duration delay, String error) {
        return table.nack(subscription, token, offsets, delay, error);
    }

    @Override
    public List<Long> reject(String token, Collection<Long> offsets, String error) {
        return table.reject(subscription, token, offsets, error);
    }

    @Override
    public Instant extend(String token, Duration lease) {
        return table.extend(subscription, token, lease);
    }
}
