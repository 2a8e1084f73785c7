package dev.trunkline;

/** Whether messages of one key wait for each other. */
public enum Ordering {
    /** Messages of one key are handled one after the other, in the order of their offsets. */
    ORDERED,
    /** Messages are handled as fast as possible, in no order. Such a topic has three priority levels. */
    THROUGHPUT
}
