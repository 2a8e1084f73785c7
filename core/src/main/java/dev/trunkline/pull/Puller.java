package dev.trunkline.pull;

import dev.trunkline.Batch;
import dev.trunkline.Codec;
import dev.trunkline.ConsumerGroupException;
import dev.trunkline.Delivery;
import dev.trunkline.LogMessage;
import dev.trunkline.PullConsumer;
import dev.trunkline.PullOptions;
import dev.trunkline.TopicPattern;
import dev.trunkline.log.Bell;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** {@link PullConsumer}: decodes what is popped, and waits. */
public final class Puller<T> implements PullConsumer<T> {

    private static final Logger log = LoggerFactory.getLogger(Puller.class);

    private final String group;
    private final String topic;
    private final Supplier<List<String>> topics;
    private final Class<T> type;
    private final Codec codec;
    private final Bell bell;
    private final Duration pollInterval;
    private final PullTable table;
    private final PullTable.Owner owner;

    private final ReentrantLock looking = new ReentrantLock();
    private volatile boolean closed;

    private Puller(
            String group,
            String topic,
            Supplier<List<String>> topics,
            Class<T> type,
            Codec codec,
            Bell bell,
            Duration pollInterval,
            PullTable table,
            PullTable.Owner owner) {
        this.group = group;
        this.topic = topic;
        this.topics = topics;
        this.type = type;
        this.codec = codec;
        this.bell = bell;
        this.pollInterval = pollInterval;
        this.table = table;
        this.owner = owner;
    }

    /** Pulls from one topic. */
    public static <T> Puller<T> of(
            String group,
            String topic,
            Class<T> type,
            PullOptions options,
            Codec codec,
            Bell bell,
            Duration pollInterval,
            PullTable table) {
        table.subscribe(group, topic, options);
        List<String> only = List.of(topic);
        return new Puller<>(
                group, topic, () -> only, type, codec, bell, pollInterval, table, new PullTable.Owner(group, topic));
    }

    /** Pulls from topics that fit a pattern. */
    public static <T> Puller<T> of(
            String group,
            TopicPattern pattern,
            Class<T> type,
            PullOptions options,
            Codec codec,
            Bell bell,
            Duration pollInterval,
            PullTable table) {
        if (!options.keys().isEmpty()) {
            throw new ConsumerGroupException("keys can be named for one topic only, not for topics by " + pattern);
        }
        int wildcard = table.subscribe(group, pattern, options);
        return new Puller<>(
                group,
                pattern.toString(),
                () -> table.topics(wildcard),
                type,
                codec,
                bell,
                pollInterval,
                table,
                new PullTable.Owner(group, null));
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
        List<String> some = new ArrayList<>(topics.get());
        Collections.shuffle(some);
        for (String next : some) {
            Optional<Batch<T>> batch = pop(next, max, lease);
            if (batch.isPresent()) {
                return batch;
            }
        }
        return Optional.empty();
    }

    private Optional<Batch<T>> pop(String from, int max, Duration lease) {
        while (true) {
            Optional<PullTable.Popped> popped = table.pop(group, from, max, lease);
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

    /** Of many that wait, one looks again and again; when it has found something, it is the next one's turn. */
    @Override
    public Optional<Batch<T>> pop(int max, Duration lease, Duration wait) throws InterruptedException {
        long deadline = System.nanoTime() + wait.toNanos();
        long heard = rings();
        Optional<Batch<T>> batch = pop(max, lease);
        if (batch.isPresent() || !looking.tryLock(deadline - System.nanoTime(), TimeUnit.NANOSECONDS)) {
            return batch;
        }
        try {
            long left = deadline - System.nanoTime();
            while (batch.isEmpty() && left > 0 && !closed) {
                await(heard, Math.min(left, pollInterval.toNanos()));
                heard = rings();
                batch = pop(max, lease);
                left = deadline - System.nanoTime();
            }
            return batch;
        } finally {
            looking.unlock();
        }
    }

    private long rings() {
        return owner.topic() == null ? bell.count() : bell.count(topic);
    }

    private void await(long heard, long nanos) throws InterruptedException {
        if (owner.topic() == null) {
            bell.await(heard, nanos);
        } else {
            bell.await(topic, heard, nanos);
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
                String what = "the payload of " + message + " (" + message.contentType() + ") is no " + type.getName();
                // A codec may quote the payload: its words are for the dead letter, not for the log.
                log.warn("{}: {}: {}", group, what, e.getClass().getName());
                left = new HashSet<>(reject(popped.token(), List.of(message.offset()), what + ": " + e.getMessage()));
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
        table.ack(owner, token, null);
    }

    @Override
    public List<Long> ack(String token, Collection<Long> offsets) {
        return table.ack(owner, token, offsets);
    }

    @Override
    public void ack(Connection connection, String token) throws SQLException {
        table.ack(connection, owner, token, null);
    }

    @Override
    public List<Long> ack(Connection connection, String token, Collection<Long> offsets) throws SQLException {
        return table.ack(connection, owner, token, offsets);
    }

    @Override
    public void nack(String token, Duration delay, String error) {
        table.nack(owner, token, null, delay, error);
    }

    @Override
    public List<Long> nack(String token, Collection<Long> offsets, Duration delay, String error) {
        return table.nack(owner, token, offsets, delay, error);
    }

    @Override
    public void release(String token) {
        table.release(owner, token, null);
    }

    @Override
    public List<Long> release(String token, Collection<Long> offsets) {
        return table.release(owner, token, offsets);
    }

    @Override
    public List<Long> reject(String token, Collection<Long> offsets, String error) {
        return table.reject(owner, token, offsets, error);
    }

    @Override
    public Instant extend(String token, Duration lease) {
        return table.extend(owner, token, lease);
    }

    @Override
    public void close() {
        closed = true;
        bell.ring(topic); // who looks stops, and with it all who wait to be the next
    }
}
