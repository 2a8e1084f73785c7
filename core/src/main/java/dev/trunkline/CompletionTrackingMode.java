package dev.trunkline;

/** How much a topic remembers of who has handled what. It can be changed while the topic is in use; messages are not touched. */
public enum CompletionTrackingMode {
    /** How far each group is, and what it could not do. */
    OFFSET_WATERMARK,
    /**
     * Also when each message was recorded as done for each group, by which process and at which epoch, until it is dropped: see {@link
     * ConsumerGroupAdmin#audit}. Kept by the minute, not by the message, for any number of groups.
     */
    REFERENCE_COUNTING
}
