package dev.trunkline;

import java.sql.Connection;

/**
 * Handles messages in the transaction that records them as done: what it does through the connection happens once, and only if the
 * message is done. To return is to commit, to throw is to roll back and to have failed. The transaction is not the handler's to end.
 *
 * @param <T> what payloads are decoded to
 */
@FunctionalInterface
public interface TransactionalHandler<T> {

    void handle(Delivery<T> delivery, Connection connection) throws Exception;
}
