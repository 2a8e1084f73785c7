package dev.trunkline;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Puts messages into the log. May be used from any number of threads.
 *
 * <p>A publish that was committed before another publish call began has the lower offset in their partition, whichever
 * of the ways below they took. A delayed message counts from when it is due.
 *
 * <p>On its own, a message is durable when {@code publish} returns or the future completes. Calls that are made at the
 * same time share a transaction; none waits for company. When too many messages are under way, callers wait.
 *
 * <p>Calls of one thread that do not wait for their futures keep their order within each key, too.
 *
 * <p>A future's dependents run on a thread of the publisher: hand long work to another one.
 */
public interface Publisher {

    /**
     * Publishes a message durably.
     *
     * @throws InvalidMessageException if the message breaks a rule; nothing was written
     * @throws UnknownTopicException if there is no such topic; nothing was written
     * @throws DatabaseUnavailableException if the database could not be reached; nothing was written
     * @throws OutcomeUnknownException if the connection was lost at the commit: publish again only with an idempotency
     *     key
     */
    Receipt publish(Message message);

    CompletableFuture<Receipt> publishAsync(Message message);

    /** Publishes messages of one topic durably: all of them, together, or none. */
    List<Receipt> publishAll(List<Message> messages);

    CompletableFuture<List<Receipt>> publishAllAsync(List<Message> messages);

    /**
     * Publishes as part of the caller's transaction, by one insert: the message exists if, and only if, that
     * transaction commits. No lock, no notification, no further round trip.
     *
     * @throws InvalidMessageException if the message breaks a rule; the transaction is as it was
     * @throws SQLException if the database refuses; the transaction has failed
     */
    Receipt publish(Connection connection, Message message) throws SQLException;

    /** Publishes messages of one topic as part of the caller's transaction, in one round trip. */
    List<Receipt> publishAll(Connection connection, List<Message> messages) throws SQLException;
}
