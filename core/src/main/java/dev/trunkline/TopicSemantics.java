package dev.trunkline;

/** Who gets a message of a topic. */
public enum TopicSemantics {
    /** Each message goes to one consumer. */
    QUEUE,
    /** Each message goes to every group. */
    PUB_SUB
}
