package dev.trunkline;

import java.time.Duration;

/**
 * Told what happens in a group, for metrics and logs. Called on the threads of handlers and of the group: be quick. What it throws is
 * logged and changes nothing.
 */
public interface GroupListener {

    /** A message was handled. */
    default void handled(LogMessage message, Duration took) {}

    /** An attempt has failed. */
    default void failed(LogMessage message, int attempt, Throwable problem) {}

    /** A message was given up. */
    default void deadLettered(LogMessage message, String error) {}

    /** A message was handled after a later one of its key. */
    default void outOfOrder(LogMessage message) {}

    /** Most messages fail, or no longer do; nor does a group that is closed. */
    default void failing(boolean failing) {}

    /** This process owns a partition now. */
    default void taken(int partition, long epoch) {}

    /** This process no longer owns a partition. */
    default void left(int partition) {}

    /**
     * The group was further in a partition than its log, which must have lost its end. When a standby took over, what came after the end
     * is lost, and the group goes on from what is recorded there. Else, say after a restore of a part, the partition waits.
     */
    default void aheadOfLog(int partition, long cursor, long end) {}
}
