package dev.trunkline.consume;

import dev.trunkline.Codec;
import dev.trunkline.ConsumerGroupException;
import dev.trunkline.Delivery;
import dev.trunkline.LogMessage;
import dev.trunkline.Observer;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The consumers of a group in this process: who takes a message, and the call. */
final class Consumers<T> {

    private final String group;
    private final Class<T> type;
    private final Codec codec;
    private final Observer observer;
    private final AtomicReference<List<Consumer<T>>> consumers = new AtomicReference<>(List.of());
    private volatile Predicate<LogMessage> filter = message -> true;

    private record Consumer<T>(
            String id,
            Effect<T> effect,
            Predicate<LogMessage> filter,
            boolean transactional,
            @Nullable Semaphore limit) {}

    /** A consumer has as many messages as it may have: this one must wait. */
    static final class Busy extends Exception {
        private static final long serialVersionUID = 1L;

        final transient Semaphore limit;

        Busy(Semaphore limit) {
            this.limit = limit;
        }
    }

    /** What a consumer does with a message, in a transaction if it wants one. */
    interface Effect<T> {
        void of(Delivery<T> delivery, Transaction transaction) throws Exception;
    }

    /** Runs something in the transaction that records a message as done. */
    interface Transaction {
        void run(Body body) throws Exception;

        /** What is done in it. */
        interface Body {
            void on(Connection connection) throws Exception;
        }
    }

    Consumers(String group, Class<T> type, Codec codec, Observer observer) {
        this.group = group;
        this.type = type;
        this.codec = codec;
        this.observer = observer;
    }

    int size() {
        return consumers.get().size();
    }

    boolean areTransactional() {
        return consumers.get().stream().allMatch(Consumer::transactional);
    }

    boolean has(String id) {
        return consumers.get().stream().anyMatch(consumer -> consumer.id().equals(id));
    }

    void filter(Predicate<LogMessage> newFilter) {
        filter = newFilter;
    }

    void add(String id, Effect<T> effect, Predicate<LogMessage> accepts, boolean transactional) {
        consumers.updateAndGet(now -> {
            if (now.stream().anyMatch(consumer -> consumer.id().equals(id))) {
                throw new ConsumerGroupException(
                        "group \"" + group + "\" has a consumer \"" + id + "\": choose another id, or remove that one");
            }
            List<Consumer<T>> more = new ArrayList<>(now);
            more.add(new Consumer<>(id, effect, accepts, transactional, null));
            return List.copyOf(more);
        });
    }

    void limit(String id, int concurrency) {
        Semaphore limit = new Semaphore(concurrency);
        consumers.updateAndGet(now -> now.stream()
                .map(consumer -> consumer.id().equals(id)
                        ? new Consumer<>(id, consumer.effect(), consumer.filter(), consumer.transactional(), limit)
                        : consumer)
                .toList());
    }

    void remove(String id) {
        consumers.updateAndGet(now ->
                now.stream().filter(consumer -> !consumer.id().equals(id)).toList());
    }

    /** What cannot be decoded: another try would not help. It is logged, and a codec may quote the payload: its words are for the dead letter's stack. */
    static final class Undecodable extends Exception {
        private static final long serialVersionUID = 1L;

        Undecodable(LogMessage message, Class<?> type, Exception cause) {
            super(
                    "the payload of " + message + " (" + message.contentType() + ") is no " + type.getName() + ": "
                            + cause.getClass().getName(),
                    cause);
        }
    }

    /** Lets a consumer handle a message, if the group's filter does. Whether that is so. */
    boolean handle(LogMessage message, int attempt, long epoch, Transaction transaction) throws Exception {
        if (!filter.test(message)) {
            return false;
        }
        T payload;
        try {
            payload = decode(message);
        } catch (RuntimeException e) {
            throw new Undecodable(message, type, e);
        }
        Consumer<T> consumer = choose(message);
        Semaphore limit = consumer.limit();
        if (limit != null && !limit.tryAcquire()) {
            throw new Busy(limit);
        }
        try {
            call(consumer, new Delivery<>(message, payload, group, attempt, epoch), transaction);
            return true;
        } finally {
            if (limit != null) {
                limit.release();
            }
        }
    }

    private void call(Consumer<T> consumer, Delivery<T> delivery, Transaction transaction) throws Exception {
        Observer.Attempt observed = observer.handling(delivery);
        try {
            consumer.effect().of(delivery, transaction);
        } catch (Throwable e) { // it goes on to who decides what becomes of the message
            observed.over(e);
            throw e;
        }
        observed.over(null);
    }

    /** Among those whose filter lets it through, always the same one for a key. */
    private Consumer<T> choose(LogMessage message) {
        List<Consumer<T>> all = consumers.get();
        if (all.size() == 1 && all.getFirst().filter().test(message)) {
            return all.getFirst();
        }
        List<Consumer<T>> willing = new ArrayList<>(all);
        willing.removeIf(consumer -> !consumer.filter().test(message));
        if (willing.isEmpty()) {
            throw new ConsumerGroupException("no consumer of group \"" + group + "\" in this process takes " + message
                    + ": make the filters of its consumers cover every message");
        }
        long hash = message.key() == null ? message.offset() : message.key().hashCode();
        return willing.get((int) ((hash & Long.MAX_VALUE) % willing.size()));
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
}
