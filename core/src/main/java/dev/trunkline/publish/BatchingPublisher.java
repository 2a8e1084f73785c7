package dev.trunkline.publish;

import dev.trunkline.ClosedException;
import dev.trunkline.Codec;
import dev.trunkline.InvalidMessageException;
import dev.trunkline.Message;
import dev.trunkline.Observer;
import dev.trunkline.Publisher;
import dev.trunkline.Receipt;
import dev.trunkline.TrunklineException;
import dev.trunkline.UnknownTopicException;
import dev.trunkline.database.Database;
import dev.trunkline.outbox.Encoded;
import dev.trunkline.outbox.Outbox;
import dev.trunkline.outbox.Relay;
import dev.trunkline.topic.TopicCatalogue;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** {@link Publisher} on the log and the outbox. What is under way is bounded in bytes; beyond that, callers wait. */
public final class BatchingPublisher implements Publisher, AutoCloseable {

    private static final int LARGEST_BUDGET = 32 * 1024 * 1024;
    private static final int UNIT = 1024;

    private final Codec codec;
    private final Outbox outbox;
    private final Relay relay;
    private final Appender appender;
    private final TopicCatalogue topics;
    private final Consumer<String> onAppend;
    private final Observer observer;
    private final int budget =
            (int) (Math.min(LARGEST_BUDGET, Runtime.getRuntime().maxMemory() / 8) / UNIT);
    private final Semaphore room = new Semaphore(budget, true);
    private final ConcurrentHashMap<String, Flights> flights = new ConcurrentHashMap<>();
    /**
     * Platform threads: a virtual one pays for each answer of the database with two changes of its carrier. They end by
     * themselves when there is nothing to do.
     */
    private final Executor crew = new ThreadPoolExecutor(
            0,
            Integer.MAX_VALUE,
            1,
            TimeUnit.SECONDS,
            new SynchronousQueue<>(),
            Thread.ofPlatform().daemon().name("trunkline-publish").factory());

    private volatile boolean closed;

    /**
     * A publisher for one process.
     *
     * @param onAppend told the topic of each batch that went straight into the log
     */
    public BatchingPublisher(
            Database database,
            Codec codec,
            Outbox outbox,
            Relay relay,
            TopicCatalogue topics,
            Consumer<String> onAppend,
            Observer observer) {
        this.codec = codec;
        this.outbox = outbox;
        this.relay = relay;
        this.appender = new Appender(database);
        this.topics = topics;
        this.onAppend = onAppend;
        this.observer = observer;
    }

    @Override
    public Receipt publish(Message message) {
        return join(send(List.of(message), true)).getFirst();
    }

    @Override
    public CompletableFuture<Receipt> publishAsync(Message message) {
        return send(List.of(message), false).thenApply(List::getFirst);
    }

    @Override
    public List<Receipt> publishAll(List<Message> messages) {
        return join(send(messages, true));
    }

    @Override
    public CompletableFuture<List<Receipt>> publishAllAsync(List<Message> messages) {
        return send(messages, false);
    }

    private CompletableFuture<List<Receipt>> send(List<Message> messages, boolean awaited) {
        requireOpen();
        if (messages.isEmpty()) {
            return CompletableFuture.completedFuture(List.of());
        }
        Observer.Publishing observed = observer.publishing(messages.getFirst().topic(), messages.size());
        CompletableFuture<List<Receipt>> receipts;
        try {
            receipts = submit(encode(messages, observed), awaited);
        } catch (Throwable e) { // nothing was sent
            observed.over(e);
            throw e;
        }
        return observed.equals(Observer.Publishing.NONE) ? receipts : told(receipts, observed);
    }

    /** What the caller waits for is over once it was told. */
    private static CompletableFuture<List<Receipt>> told(
            CompletableFuture<List<Receipt>> receipts, Observer.Publishing observed) {
        CompletableFuture<List<Receipt>> told = new CompletableFuture<>();
        var unused = receipts.whenComplete((all, problem) -> {
            observed.over(problem);
            if (problem == null) {
                told.complete(all);
            } else {
                told.completeExceptionally(problem);
            }
        });
        return told;
    }

    @Override
    public Receipt publish(Connection connection, Message message) throws SQLException {
        requireOpen();
        Observer.Publishing observed = observer.publishing(message.topic(), 1);
        long id;
        try {
            id = insert(connection, Encoded.of(observed.carrying(message), codec));
        } catch (Throwable e) { // the caller is told too
            observed.over(e);
            throw e;
        }
        observed.over(null);
        relay.expect();
        return waiting(message.topic(), id);
    }

    private long insert(Connection connection, Encoded encoded) throws SQLException {
        try {
            return outbox.insert(connection, encoded);
        } catch (UnknownTopicException e) {
            // The caller's transaction has failed, but its next try will find the topic if topics are made on demand.
            topics.createUnconfigured(encoded.topic(), e);
            throw new UnknownTopicException(
                    e.getMessage() + "; it has been created as a queue now: roll back and publish again", e);
        }
    }

    @Override
    public List<Receipt> publishAll(Connection connection, List<Message> messages) throws SQLException {
        requireOpen();
        if (messages.isEmpty()) {
            return List.of();
        }
        Observer.Publishing observed = observer.publishing(messages.getFirst().topic(), messages.size());
        Long[] ids;
        try {
            ids = outbox.insertAll(connection, encode(messages, observed));
        } catch (Throwable e) { // the caller is told too
            observed.over(e);
            throw e;
        }
        observed.over(null);
        relay.expect();
        List<Receipt> receipts = new ArrayList<>(ids.length);
        for (Long id : ids) {
            receipts.add(waiting(messages.getFirst().topic(), id));
        }
        return receipts;
    }

    private static Receipt waiting(String topic, long id) {
        return new Receipt(topic, id, OptionalInt.empty(), OptionalLong.empty(), false);
    }

    private List<Encoded> encode(List<Message> messages, Observer.Publishing observed) {
        String topic = messages.getFirst().topic();
        List<Encoded> encoded = new ArrayList<>(messages.size());
        for (Message message : messages) {
            if (!message.topic().equals(topic)) {
                throw new InvalidMessageException("messages for \"" + topic + "\" and \"" + message.topic()
                        + "\" are in one batch: publish one batch for each topic");
            }
            encoded.add(Encoded.of(observed.carrying(message), codec));
        }
        return encoded;
    }

    private CompletableFuture<List<Receipt>> submit(List<Encoded> messages, boolean awaited) {
        Submission submission = new Submission(messages, awaited);
        room.acquireUninterruptibly(share(submission));
        flights.computeIfAbsent(
                        messages.getFirst().topic(), topic -> new Flights(appender, topics, crew, new Landing(topic)))
                .submit(submission);
        return submission.receipts();
    }

    /** A submission larger than everything there is room for goes alone. */
    private int share(Submission submission) {
        return Math.min(budget, submission.weight() / UNIT + 1);
    }

    private void requireOpen() {
        if (closed) {
            throw new ClosedException("this publisher is closed: open another Trunkline");
        }
    }

    private static <T> T join(CompletableFuture<T> future) {
        try {
            return future.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof TrunklineException cause) {
                cause.addSuppressed(new TrunklineException("called from here"));
                throw cause;
            }
            throw e;
        }
    }

    /** Refuses new messages and waits for those under way. */
    public void close(Duration patience) {
        closed = true;
        try {
            if (!room.tryAcquire(budget, patience.toNanos(), TimeUnit.NANOSECONDS)) {
                ClosedException reason = new ClosedException(
                        "the publisher was closed before this message was sent: nothing was written");
                flights.values().forEach(topic -> topic.cancel(reason));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        close(Duration.ofSeconds(30));
    }

    private final class Landing implements Flights.Landing {
        private final String topic;

        Landing(String topic) {
            this.topic = topic;
        }

        @Override
        public void landed(boolean direct) {
            if (direct) {
                onAppend.accept(topic);
            } else {
                relay.expect();
            }
        }

        @Override
        public void over(Submission submission) {
            room.release(share(submission));
        }
    }
}
