package dev.trunkline.benchmarks;

import java.util.List;

/**
 * How long and how much to measure.
 *
 * @param seconds of one turn of one side
 * @param warmUp seconds of each side that do not count
 * @param repetitions turns of each side
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
 * @param fanOut what many groups have to bear
 */
record Effort(
        double seconds,
        double warmUp,
        int repetitions,
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
        double retentionSeconds,
        Load fanOut) {

    /**
     * Messages that come at a steady rate.
     *
     * @param groups how many groups get each message: one contest after the other
     * @param perSecond messages
     * @param seconds of one turn of one side
     */
    record Load(List<Integer> groups, int perSecond, double seconds) {

        Load withGroups(List<Integer> newGroups) {
            return new Load(newGroups, perSecond, seconds);
        }

        Load withRate(int newPerSecond) {
            return new Load(groups, newPerSecond, seconds);
        }

        Load withSeconds(double newSeconds) {
            return new Load(groups, perSecond, newSeconds);
        }
    }

    static Effort full() {
        return new Effort(
                3,
                3,
                5,
                200_000,
                1_000_000,
                21,
                1_000_000,
                45,
                1_000_000,
                1_000_000,
                100_000,
                5_000_000,
                1_000_000,
                20,
                new Load(List.of(4, 16, 64, 100), 1_000, 10));
    }

    /** About 20 seconds for each scenario, and noisier. */
    static Effort quick() {
        return new Effort(
                0.5,
                0.5,
                3,
                20_000,
                200_000,
                7,
                100_000,
                4,
                200_000,
                100_000,
                20_000,
                200_000,
                50_000,
                6,
                new Load(List.of(4, 100), 1_000, 2));
    }

    Effort withSeconds(double newSeconds) {
        return new Effort(
                newSeconds,
                Math.min(newSeconds, warmUp),
                repetitions,
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
                newSeconds,
                fanOut.withSeconds(newSeconds));
    }

    Effort withRepetitions(int newRepetitions) {
        return new Effort(
                seconds,
                warmUp,
                newRepetitions,
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
                retentionSeconds,
                fanOut);
    }

    /** With so many messages where a backlog is worked off or joined, and where memory is small. */
    Effort withMessages(int messages) {
        return new Effort(
                seconds,
                warmUp,
                repetitions,
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
                retentionSeconds,
                fanOut);
    }

    Effort withFanOut(Load newFanOut) {
        return new Effort(
                seconds,
                warmUp,
                repetitions,
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
                retentionSeconds,
                newFanOut);
    }
}
