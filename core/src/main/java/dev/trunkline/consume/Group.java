package dev.trunkline.consume;

import dev.trunkline.Codec;
import dev.trunkline.ConsumerGroup;
import dev.trunkline.ConsumerGroupException;
import dev.trunkline.DeadLetters;
import dev.trunkline.GroupListener;
import dev.trunkline.GroupMetrics;
import dev.trunkline.GroupStatus;
import dev.trunkline.Handler;
import dev.trunkline.LogMessage;
import dev.trunkline.Receipt;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TransactionalHandler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** {@link ConsumerGroup}: its consumers and its life. What it does while it is started is {@link Consumption}. */
final class Group<T> implements ConsumerGroup<T> {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final String name;
    private final String topic;
    private final Groups groups;
    /** Whether it consumes what a wildcard has found, and does not subscribe by itself. */
    private final boolean isFound;

    private final Consumers<T> consumers;
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable GroupListener listener;
    private volatile @Nullable Consumption consumption;
    private boolean closed;

    Group(String name, String topic, Class<T> type, Codec codec, Groups groups, boolean isFound) {
        this.name = Objects.requireNonNull(name, "name");
        this.topic = Objects.requireNonNull(topic, "topic");
        this.groups = groups;
        this.isFound = isFound;
        this.consumers = new Consumers<>(name, Objects.requireNonNull(type, "type"), codec, groups.observer());
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String topic() {
        return topic;
    }

    boolean isFound() {
        return isFound;
    }

    /** Whether it is started, for this subscription. */
    boolean isOf(int subscription) {
        Consumption now = consumption;
        return now != null && now.isOf(subscription);
    }

    @Override
    public ConsumerGroup<T> addConsumer(String id, Handler<T> handler) {
        return addConsumer(id, handler, message -> true);
    }

    @Override
    public ConsumerGroup<T> addConsumer(String id, Handler<T> handler, Predicate<LogMessage> filter) {
        Objects.requireNonNull(handler, "handler");
        Objects.requireNonNull(filter, "filter");
        return add(id, (delivery, transaction) -> handler.handle(delivery), filter, false);
    }

    @Override
    public ConsumerGroup<T> addTransactionalConsumer(String id, TransactionalHandler<T> handler) {
        Objects.requireNonNull(handler, "handler");
        return add(
                id,
                (delivery, transaction) -> transaction.run(connection -> handler.handle(delivery, connection)),
                message -> true,
                true);
    }

    private ConsumerGroup<T> add(
            String id, Consumers.Effect<T> effect, Predicate<LogMessage> filter, boolean transactional) {
        Objects.requireNonNull(id, "id");
        return locked(() -> {
            requireOpen();
            consumers.add(id, effect, filter, transactional);
        });
    }

    @Override
    public ConsumerGroup<T> limit(String id, int concurrency) {
        if (concurrency < 1) {
            throw new IllegalArgumentException("a concurrency of " + concurrency + " handles nothing: use 1 or more");
        }
        return locked(() -> {
            requireOpen();
            requireConsumer(id);
            consumers.limit(id, concurrency);
        });
    }

    private void requireConsumer(String id) {
        if (!consumers.has(id)) {
            throw new ConsumerGroupException(this + " has no consumer \"" + id + "\"");
        }
    }

    @Override
    public ConsumerGroup<T> removeConsumer(String id) {
        return locked(() -> {
            requireOpen();
            requireConsumer(id);
            if (consumption != null && consumers.size() == 1) {
                throw new ConsumerGroupException("\"" + id + "\" is the last consumer of " + this
                        + ", which is started: close the group instead");
            }
            consumers.remove(id);
        });
    }

    @Override
    public ConsumerGroup<T> filter(Predicate<LogMessage> filter) {
        Objects.requireNonNull(filter, "filter");
        return locked(() -> {
            requireOpen();
            if (consumption != null) {
                throw new ConsumerGroupException(this + " is started: set its filter before");
            }
            consumers.filter(filter);
        });
    }

    @Override
    public ConsumerGroup<T> listener(GroupListener newListener) {
        Objects.requireNonNull(newListener, "listener");
        return locked(() -> {
            requireOpen();
            if (consumption != null) {
                throw new ConsumerGroupException(this + " is started: set its listener before");
            }
            listener = newListener;
        });
    }

    @Override
    public boolean await(Receipt receipt, Duration timeout) throws InterruptedException {
        if (!receipt.topic().equals(topic)) {
            throw new ConsumerGroupException(
                    "message " + receipt.id() + " is of topic \"" + receipt.topic() + "\", not \"" + topic + "\"");
        }
        Consumption here = consumption;
        return new Awaiting(groups.calls(), currentName(), receipt, here == null ? () -> {} : here::record, timeout)
                .run();
    }

    @Override
    public DeadLetters deadLetters() {
        return new GroupLetters(groups.calls(), currentName(), topic);
    }

    /** A group has another name once its topic is a queue. */
    private String currentName() {
        Consumption here = consumption;
        return here == null ? name : here.name();
    }

    @Override
    public GroupMetrics metrics() {
        return started().metrics();
    }

    @Override
    public ConsumerGroup<T> start(SubscriptionOptions options) {
        Objects.requireNonNull(options, "options");
        return locked(() -> {
            requireOpen();
            if (consumption != null) {
                throw new ConsumerGroupException(this + " is started already");
            }
            if (consumers.size() == 0) {
                throw new ConsumerGroupException(this + " has no consumer: add one before it is started");
            }
            if (!options.batching().isSingle() && !consumers.areTransactional()) {
                throw new ConsumerGroupException(
                        this + " has a consumer that is not transactional: only transactional ones"
                                + " can have several messages in a transaction");
            }
            consumption = groups.consume(this, options, consumers, new Monitor(new Subject(name, topic), listeners()));
        });
    }

    private List<GroupListener> listeners() {
        List<GroupListener> all = new ArrayList<>(groups.observer().listeners(name, topic));
        if (listener != null) {
            all.add(listener);
        }
        return List.copyOf(all);
    }

    @Override
    public void pause() {
        started().changeStatus(GroupStatus.PAUSED);
    }

    @Override
    public void resume() {
        started().changeStatus(GroupStatus.ACTIVE);
    }

    @Override
    public void cancel() {
        started().changeStatus(GroupStatus.CANCELLED);
        close();
    }

    private Consumption started() {
        Consumption now = consumption;
        if (now == null) {
            throw new ConsumerGroupException(this + " is not started in this process: start it first");
        }
        return now;
    }

    @Override
    public void close(Duration deadline) {
        locked(() -> {
            closed = true;
            Consumption now = consumption;
            consumption = null;
            if (now != null) {
                now.close(deadline);
                groups.left(this, now);
            }
        });
    }

    @Override
    public void close() {
        close(PATIENCE);
    }

    private Group<T> locked(Runnable action) {
        lock.lock();
        try {
            action.run();
            return this;
        } finally {
            lock.unlock();
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new ConsumerGroupException(this + " is closed: create it anew");
        }
    }

    @Override
    public String toString() {
        return "group \"" + name + "\"";
    }
}
