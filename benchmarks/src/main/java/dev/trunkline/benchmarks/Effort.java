package dev.trunkline.benchmarks;

import java.util.List;

/**
 * How long and how much to measure.
 *
 * @param seconds of one turn of one side
 * @param warmUp seconds of each side that do not count
 * @param repetitions turns of each side
 * @param amounts what is worked on
 * @param series the numbers for which a scenario is repeated
 * @param fanOut what many groups have to bear
 */
record Effort(double seconds, double warmUp, int repetitions, Amounts amounts, Series series, Load fanOut) {

    /**
     * How much is worked on.
     *
     * @param relayRows outbox rows that are relayed at once
     * @param growthRows outbox rows that were relayed before
     * @param growthRuns relays of 1,000 rows, in each of both outboxes
     * @param segmentRows messages in the segment that is dropped
     * @param heldSeconds how long a transaction is held open in one go
     * @param memoryMessages messages that the small JVM publishes
     * @param consumeMessages messages that a new group finds in its topic; a multiple of 2,000
     * @param amplifiedMessages messages that each of many groups finds in its topic; a multiple of 100
     * @param memoryDrainMessages messages that the small JVM consumes; a multiple of 1,000
     * @param joinedMessages messages of a topic that new groups join; a multiple of 1,000
     * @param retentionSeconds how long messages come and go
     */
    record Amounts(
            int relayRows,
            int growthRows,
            int growthRuns,
            int segmentRows,
            double heldSeconds,
            int memoryMessages,
            int consumeMessages,
            int amplifiedMessages,
            int memoryDrainMessages,
            int joinedMessages,
            double retentionSeconds) {

        /** With so many where a backlog is worked off or joined, and where memory is small. */
        private Amounts withMessages(int messages) {
            return new Amounts(
                    relayRows,
                    growthRows,
                    growthRuns,
                    segmentRows,
                    heldSeconds,
                    messages,
                    messages,
                    messages,
                    messages,
                    messages,
                    retentionSeconds);
        }

        private Amounts withRetentionSeconds(double newRetentionSeconds) {
            return new Amounts(
                    relayRows,
                    growthRows,
                    growthRuns,
                    segmentRows,
                    heldSeconds,
                    memoryMessages,
                    consumeMessages,
                    amplifiedMessages,
                    memoryDrainMessages,
                    joinedMessages,
                    newRetentionSeconds);
        }
    }

    /**
     * Numbers, from small to large.
     *
     * @param peerGroups groups that get each message from Trunkline and from others
     * @param groups groups that get each message from Trunkline
     * @param partitions of a topic
     * @param payloads their bytes
     * @param backlogs messages that wait; multiples of 1,000
     * @param processes that consume
     */
    record Series(
            List<Integer> peerGroups,
            List<Integer> groups,
            List<Integer> partitions,
            List<Integer> payloads,
            List<Integer> backlogs,
            List<Integer> processes) {

        private Series withGroups(List<Integer> newGroups) {
            return new Series(newGroups, newGroups, partitions, payloads, backlogs, processes);
        }
    }

    /**
     * Messages that come at a steady rate.
     *
     * @param groups how many groups get each message: one contest after the other
     * @param perSecond messages
     * @param seconds of one turn of one side
     */
    record Load(List<Integer> groups, int perSecond, double seconds) {

        private Load withGroups(List<Integer> newGroups) {
            return new Load(newGroups, perSecond, seconds);
        }

        private Load withRate(int newPerSecond) {
            return new Load(groups, newPerSecond, seconds);
        }

        private Load withSeconds(double newSeconds) {
            return new Load(groups, perSecond, newSeconds);
        }
    }

    static Effort full() {
        return new Effort(
                3,
                3,
                5,
                new Amounts(
                        200_000, 1_000_000, 21, 1_000_000, 45, 1_000_000, 1_000_000, 100_000, 5_000_000, 1_000_000, 20),
                new Series(
                        List.of(1, 4, 16, 64),
                        List.of(1, 2, 4, 8, 16, 32, 64, 128),
                        List.of(1, 4, 16, 64, 256),
                        List.of(100, 1_000, 10_000, 100_000),
                        List.of(100_000, 1_000_000, 10_000_000),
                        List.of(1, 2, 3, 4)),
                new Load(List.of(4, 16, 64, 100), 1_000, 10));
    }

    /** Under a minute for each scenario, and noisier. */
    static Effort quick() {
        return new Effort(
                0.5,
                0.5,
                3,
                new Amounts(20_000, 200_000, 7, 100_000, 4, 200_000, 100_000, 20_000, 200_000, 50_000, 6),
                new Series(
                        List.of(1, 64),
                        List.of(1, 64),
                        List.of(1, 16, 256),
                        List.of(100, 10_000),
                        List.of(20_000, 200_000),
                        List.of(1, 4)),
                new Load(List.of(4, 100), 1_000, 2));
    }

    Effort withSeconds(double newSeconds) {
        return new Effort(
                newSeconds,
                Math.min(newSeconds, warmUp),
                repetitions,
                amounts.withRetentionSeconds(newSeconds),
                series,
                fanOut.withSeconds(newSeconds));
    }

    Effort withRepetitions(int newRepetitions) {
        return new Effort(seconds, warmUp, newRepetitions, amounts, series, fanOut);
    }

    Effort withMessages(int messages) {
        return new Effort(seconds, warmUp, repetitions, amounts.withMessages(messages), series, fanOut);
    }

    /** With so many groups wherever there are many, one contest after the other. */
    Effort withGroups(List<Integer> groups) {
        return new Effort(seconds, warmUp, repetitions, amounts, series.withGroups(groups), fanOut.withGroups(groups));
    }

    /** With so many messages in a second where they come at a steady rate. */
    Effort withRate(int perSecond) {
        return new Effort(seconds, warmUp, repetitions, amounts, series, fanOut.withRate(perSecond));
    }
}
