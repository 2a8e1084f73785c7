package dev.trunkline;

import java.time.Duration;

/**
 * How a group works off history: what lies in the log when it begins, or comes back from the dead. Once it has, it reads what comes
 * as any group does. While it works, it slows down when the database answers more slowly than it should.
 *
 * {@snippet :
 * group.start(SubscriptionOptions.fromBeginning(BackfillConfiguration.conservative().withMaxMessages(100_000)));
 * }
 *
 * @param maxMessages the most messages of history; of more, the oldest are passed over, which is recorded as a gap
 * @param batchSize the most messages that a process reads at once
 * @param messagesPerSecond the most messages that a process reads in a second
 * @param targetLatency the longest that 95 of 100 small questions to the database may take: while they take longer, it reads less
 */
public record BackfillConfiguration(long maxMessages, int batchSize, int messagesPerSecond, Duration targetLatency) {

    private static final long A_MILLION = 1_000_000;

    public BackfillConfiguration {
        require("a bound", "messages", maxMessages);
        require("a batch", "messages", batchSize);
        require("a rate", "messages a second", messagesPerSecond);
        if (targetLatency.isNegative() || targetLatency.isZero()) {
            throw new IllegalArgumentException(
                    "a latency of " + targetLatency + " can not be aimed at: use more than zero");
        }
    }

    private static void require(String what, String unit, long number) {
        if (number < 1) {
            throw new IllegalArgumentException(what + " of " + number + " " + unit + " is too small: use 1 or more");
        }
    }

    /** Up to a million messages, 50,000 a second. */
    public static BackfillConfiguration standard() {
        return new BackfillConfiguration(A_MILLION, 2_000, 50_000, Duration.ofMillis(10));
    }

    /** Up to a million messages, 10,000 a second, and less if others would feel it. */
    public static BackfillConfiguration conservative() {
        return new BackfillConfiguration(A_MILLION, 500, 10_000, Duration.ofMillis(5));
    }

    /** Up to a million messages, 200,000 a second. */
    public static BackfillConfiguration aggressive() {
        return new BackfillConfiguration(A_MILLION, 8_000, 200_000, Duration.ofMillis(50));
    }

    /** {@link Long#MAX_VALUE} for no bound. */
    public BackfillConfiguration withMaxMessages(long newMaxMessages) {
        return new BackfillConfiguration(newMaxMessages, batchSize, messagesPerSecond, targetLatency);
    }

    public BackfillConfiguration withBatchSize(int newBatchSize) {
        return new BackfillConfiguration(maxMessages, newBatchSize, messagesPerSecond, targetLatency);
    }

    public BackfillConfiguration withMessagesPerSecond(int newMessagesPerSecond) {
        return new BackfillConfiguration(maxMessages, batchSize, newMessagesPerSecond, targetLatency);
    }

    public BackfillConfiguration withTargetLatency(Duration newTargetLatency) {
        return new BackfillConfiguration(maxMessages, batchSize, messagesPerSecond, newTargetLatency);
    }
}
