package dev.trunkline;

/** What happens to a message for a topic that nobody has created. A choice of the whole installation. */
public enum UnconfiguredTopics {
    /** Publishing fails with {@link UnknownTopicException}. The default. */
    REFUSE,
    /**
     * The library creates the topic as a queue, in a transaction of its own, before it publishes. The SQL functions do
     * not: a topic is never created inside a caller's transaction.
     */
    QUEUE
}
