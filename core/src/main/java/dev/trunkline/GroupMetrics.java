package dev.trunkline;

import java.time.Duration;
import java.util.Map;

/**
 * What a process has done for a group since it was started there.
 *
 * @param handled messages that were handled, or let pass by the group's filter
 * @param failed attempts that failed
 * @param deadLettered messages that were given up
 * @param outOfOrder messages of a key that were handled after a later one: must be 0, but for what was skipped and redriven
 * @param meanHandling how long a handler ran on average
 * @param longestHandling how long a handler ran at most
 * @param underWay messages that were read and are not done
 * @param failing most messages fail: the group is slowed down
 * @param lag how many messages of each partition that this process owns are not done
 * @param hottestKeys the keys with most messages, with their share of all messages in percent, from a sample
 */
public record GroupMetrics(
        long handled,
        long failed,
        long deadLettered,
        long outOfOrder,
        Duration meanHandling,
        Duration longestHandling,
        long underWay,
        boolean failing,
        Map<Integer, Long> lag,
        Map<String, Double> hottestKeys) {}
