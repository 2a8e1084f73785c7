package dev.trunkline;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/**
 * A group for callers that can not keep a handler running: they pop batches, work on them, and acknowledge them, from any thread
 * and any process. The same can be done in SQL, with {@code trunkline.pop}, {@code ack}, {@code nack}, {@code release}, {@code reject} and
 * {@code extend}.
 *
 * {@snippet :
 * PullConsumer<Order> orders = trunkline.pull("billing", "orders", Order.class, PullOptions.fromBeginning());
 * Optional<Batch<Order>> batch = orders.pop(100, Duration.ofSeconds(30), Duration.ofSeconds(20));
 * batch.ifPresent(b -> {
 *     b.deliveries().forEach(delivery -> bill(delivery.payload()));
 *     orders.ack(b.token());
 * });
 * }
 *
 * <p>A group has one open batch per partition: what comes after it waits until it is settled or its lease runs out. Then its messages come
 * again, and count as having failed. Until somebody else has popped them, a batch can be settled although its lease ran out; afterwards
 * not. A batch has 10,000 messages and 16 MiB at most.
 *
 * <p>In an ordered topic, messages of one key are popped and acknowledged in order. Of a message that is handed back, those that come after it
 * on its key are handed back too, without having failed, and so it is with one that is released; what is left of the batch is what the calls return.
 *
 * <p>Calls that change a batch throw {@link LeaseExpiredException} if it is no longer the caller's, and {@link ConsumerGroupException} if there is no such
 * batch of this group or an offset is not in it.
 *
 * @param <T> what payloads are decoded to: a class that the codec knows, {@code byte[]} or {@code String}
 */
public interface PullConsumer<T> extends AutoCloseable {

    String group();

    String topic();

    /**
     * Takes messages of one partition, if there are any.
     *
     * @param max how many at most: 1 to 10,000
     * @param lease for how long nobody else gets them: more than zero, at most a day
     * @throws ConsumerGroupException if the group was cancelled, or max or lease is out of bounds
     */
    Optional<Batch<T>> pop(int max, Duration lease);

    /** As {@link #pop(int, Duration)}, but waits for messages, at most so long, or until it is closed. */
    Optional<Batch<T>> pop(int max, Duration lease, Duration wait) throws InterruptedException;

    /** All that is left of a batch is done. */
    void ack(String token);

    /** Some of a batch is done. Returns the offsets that are left. */
    List<Long> ack(String token, Collection<Long> offsets);

    /**
     * All that is left of a batch is done, if and only if the caller's transaction commits: what it does about the messages happens once. It must be READ
     * COMMITTED; until it ends, nobody pops this partition.
     *
     * @throws SQLException if the database refuses for another reason; the transaction has failed
     */
    void ack(Connection connection, String token) throws SQLException;

    /** As {@link #ack(Connection, String)}, for some of a batch. Returns the offsets that are left. */
    List<Long> ack(Connection connection, String token, Collection<Long> offsets) throws SQLException;

    /** Hands all that is left of a batch back: it has failed, and comes again after the delay, or becomes dead letters. */
    void nack(String token, Duration delay, String error);

    /** Hands some of a batch back. Returns the offsets that are left. */
    List<Long> nack(String token, Collection<Long> offsets, Duration delay, String error);

    /** Gives all that is left of a batch back as if it had not been taken: nobody has tried it. For who stops in order. */
    void release(String token);

    /** Gives some of a batch back as if it had not been taken. Returns the offsets that are left. */
    List<Long> release(String token, Collection<Long> offsets);

    /** Some of a batch become dead letters at once: another try would not help. Returns the offsets that are left. */
    List<Long> reject(String token, Collection<Long> offsets, String error);

    /** Gives a batch a new lease, from now on, and returns when that ends. */
    Instant extend(String token, Duration lease);

    /** Nobody waits any more: who does gets nothing. All else can be called as before, and the group stays. */
    @Override
    void close();
}
