package dev.trunkline;

import java.time.Duration;
import java.util.function.Predicate;

/**
 * The part of a consumer group that runs in this process. A group gets every message of its topic; its processes share the
 * partitions, and inside a process its consumers share the messages. Messages of one key are handled one after the other, in order,
 * by one consumer; different keys at the same time.
 *
 * {@snippet :
 * ConsumerGroup<Order> emails = trunkline.createConsumerGroup("emails", "orders", Order.class);
 * emails.addConsumer("mailer", delivery -> send(delivery.payload()));
 * emails.start(SubscriptionOptions.fromBeginning());
 * }
 *
 * @param <T> what payloads are decoded to: a class that the codec knows, {@code byte[]} or {@code String}
 */
public interface ConsumerGroup<T> extends AutoCloseable {

    /** What the one group of a queue is called. */
    String SHARED = "shared";

    String name();

    String topic();

    /**
     * Adds a consumer. Before or after the start.
     *
     * @throws ConsumerGroupException if there is one of that id, or the group is closed
     */
    ConsumerGroup<T> addConsumer(String id, Handler<T> handler);

    /** Adds a consumer for the messages that the filter lets through. What no consumer of the process takes has failed. */
    ConsumerGroup<T> addConsumer(String id, Handler<T> handler, Predicate<LogMessage> filter);

    /** Adds a consumer whose effects in this database happen once: they and the record that the message is done are one transaction. */
    ConsumerGroup<T> addTransactionalConsumer(String id, TransactionalHandler<T> handler);

    /**
     * Lets at most so many handlers of a consumer run at once in this process. What is for it waits; other consumers go on.
     *
     * @throws ConsumerGroupException if there is none of that id
     */
    ConsumerGroup<T> limit(String id, int concurrency);

    /**
     * Removes a consumer; messages that it is handling are not interrupted.
     *
     * @throws ConsumerGroupException if there is none of that id, or it is the last one of a started group
     */
    ConsumerGroup<T> removeConsumer(String id);

    /** Messages that this filter does not let through are done without being handled. The same in every process, and before the start. */
    ConsumerGroup<T> filter(Predicate<LogMessage> filter);

    /** Tells a listener what happens in this process. Before the start. */
    ConsumerGroup<T> listener(GroupListener listener);

    /**
     * Starts to consume in this process.
     *
     * @throws ConsumerGroupException if it has no consumer, was started already, or is closed
     * @throws UnknownTopicException if there is no such topic
     */
    ConsumerGroup<T> start(SubscriptionOptions options);

    /**
     * Waits until the group has handled a message, in whatever process: read your writes. A message that was published in a transaction
     * must have been committed. The group need not be started in this process.
     *
     * @return false if it was not handled in time
     * @throws ConsumerGroupException if the group has given the message up, or there is no such group
     */
    boolean await(Receipt receipt, Duration timeout) throws InterruptedException;

    /** What the group has given up. */
    DeadLetters deadLetters();

    /** What this process has done for the group since it was started, and how far behind its partitions are. */
    GroupMetrics metrics();

    /** Pauses the group in all processes; it keeps its place. */
    void pause();

    /** Lets a paused group go on. */
    void resume();

    /** Ends the group in all processes, for good. One that is started under its name later is a new one. */
    void cancel();

    /** Stops consuming in this process: waits for handlers that run, records what was done, and hands over. */
    void close(Duration deadline);

    /** As {@link #close(Duration)}, with half a minute. */
    @Override
    void close();
}
