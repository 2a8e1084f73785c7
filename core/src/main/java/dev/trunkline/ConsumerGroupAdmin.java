package dev.trunkline;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Looks after consumer groups, from any process: how they are, what they miss, and where they go on. The one group of a queue is called {@code shared}. What
 * is changed is noted with the database user who did it (table {@code group_event}).
 *
 * <p>Methods that name a group throw {@link ConsumerGroupException} if there is none, and {@link UnknownTopicException} if there is no such topic.
 */
public interface ConsumerGroupAdmin {

    /** How a group is. */
    enum Health {
        HEALTHY,
        /** No process serves it, and it is not dead yet. */
        UNATTENDED,
        /** As {@link #UNATTENDED}, and half of the time until it is dead has passed. */
        NEAR_TIMEOUT,
        /** It is served, has something to do, and has done nothing for five minutes. */
        STALLED,
        /** It died three times in a day. */
        FLAPPING,
        PAUSED,
        DEAD,
        CANCELLED
    }

    /**
     * A group.
     *
     * @param members processes that serve it
     * @param lastBeat the last sign of life of one of them
     * @param pending messages in the log that it has not done
     * @param done offsets that it has done, or need not do
     * @param lastProgress when it last recorded something
     * @param parked messages that wait aside for a blocked key
     * @param passedOver messages that it was not given: see {@link #gaps}
     * @param releasedAt since when it holds no messages back
     */
    record GroupState(
            String name,
            String topic,
            GroupStatus status,
            Health health,
            int members,
            Optional<Instant> lastBeat,
            long pending,
            long done,
            Optional<Instant> lastProgress,
            long parked,
            long deadLetters,
            long passedOver,
            Optional<Instant> releasedAt,
            Instant createdAt) {}

    /**
     * What a move does to one partition.
     *
     * @param replayed messages that were done, and are to be handled again
     * @param skipped messages that were not done, and are not handled
     */
    record Moved(int partition, int priority, long from, long to, long replayed, long skipped) {}

    /** Messages that a group was not given, from an offset up to, not including, another. */
    record Gap(int partition, int priority, long from, long to, String reason, Instant at) {}

    /** How a group is with what lay in the log when it began, or came back from the dead. */
    enum CatchUpState {
        RUNNING,
        /** It was stopped, and keeps its place. */
        CANCELLED,
        DONE
    }

    /**
     * How far a group is with what lay in the log when it began, or came back from the dead.
     *
     * @param messagesPerSecond on average, since it began or was resumed
     * @param remaining how long the rest takes at that rate
     */
    record CatchUp(CatchUpState state, long total, long done, double messagesPerSecond, Optional<Duration> remaining) {}

    /**
     * A group that subscribes by a pattern.
     *
     * @param topics how many topics it has by that
     */
    record Wildcard(String group, TopicPattern pattern, int topics, Instant createdAt) {}

    /** What became of a message for a group. */
    enum HandledState {
        DONE,
        /** The group's filter did not let it through, or the group does not want its key. */
        REJECTED,
        DEAD_LETTER,
        /** It was a dead letter, and somebody has discarded it. */
        DISCARDED,
        /** It waits aside for its key. */
        PARKED,
        /** The group was not given it: see {@link #gaps}. */
        GAP,
        /** The group began after it. */
        BEFORE_START,
        NOT_YET
    }

    /**
     * What became of a message for a group.
     *
     * @param missing the group has yet to handle it
     * @param recordedAt when that was recorded, to the minute if it is long ago; empty: nobody knows, or it was not
     * @param session the process that recorded it; empty: somebody who pulls, or as above
     * @param epoch the epoch of the partition's owner, then
     */
    record Handled(
            String group,
            HandledState state,
            boolean missing,
            Optional<Instant> recordedAt,
            Optional<String> session,
            Optional<Long> epoch) {}

    /** Something that is known of a message. */
    record Fact(String fact, String detail) {}

    /**
     * What a topic keeps.
     *
     * @param unheard it is pub/sub, and has no group
     * @param pinnedBy a group that keeps messages whose retention is over
     * @param pinnedSince since when
     * @param pinnedBytes how much that is
     * @param fallingBehind upkeep is falling behind: several segments may go and are still there
     * @param overdueSegments how many
     * @param dropped messages that were dropped in the last hour
     * @param published messages that were published in the last hour, or since the segment before it began
     */
    record TopicHealth(
            String topic,
            int segments,
            long bytes,
            int groups,
            boolean unheard,
            Optional<String> pinnedBy,
            Optional<Instant> pinnedSince,
            long pinnedBytes,
            boolean fallingBehind,
            int overdueSegments,
            long dropped,
            long published) {}

    /**
     * A figure of the installation, for metrics.
     *
     * @param name what it counts or measures, such as {@code group_lag_messages}; ages are in seconds
     * @param topic empty: it is of no topic
     * @param group empty: it is of no group
     */
    record Figure(String name, String topic, String group, double value) {}

    /**
     * How far a group is behind in one partition.
     *
     * @param cursor the offset below which all is done
     * @param end the offset that the next message will get
     * @param pending messages in the log that it has not done
     * @param parked messages that wait aside for a blocked key
     * @param age of the oldest of both, since it was appended; empty: there are none
     */
    record Lag(int partition, int priority, long cursor, long end, long pending, long parked, Optional<Duration> age) {}

    /** All groups, by topic and name; cancelled ones too, until they are forgotten. */
    List<GroupState> groups();

    Optional<GroupState> find(String group, String topic);

    /** How far a group is behind, for each of its partitions. */
    List<Lag> lag(String group, String topic);

    /** What a seek would do. It changes nothing. */
    List<Moved> planSeek(String group, String topic, Start to);

    /**
     * Moves a group that does not run, or is paused.
     *
     * @throws ConsumerGroupException if it is running, or the place does not exist
     */
    List<Moved> seek(String group, String topic, Start to);

    /** Moves a group, also if it runs: its processes start over, and what they have under way may be handled twice, or again. */
    List<Moved> seekByForce(String group, String topic, Start to);

    /** Moves one partition of a group, also if it runs. */
    List<Moved> seekByForce(String group, String topic, int partition, Start to);

    void pause(String group, String topic);

    void resume(String group, String topic);

    /** Ends a group for good, also if it has messages under way: what its processes then do for it no longer counts. */
    void cancel(String group, String topic);

    /**
     * Calls a dead group back to life before a process does.
     *
     * @param history false: it begins at the end of the log, and what it misses is a gap
     */
    void resurrect(String group, String topic, boolean history);

    /**
     * As {@link #resurrect(String, String, boolean)}, with the last messages of what it has missed.
     *
     * @param maxMessages how many of them; what lies before them is a gap
     */
    void resurrect(String group, String topic, long maxMessages);

    /** How far a group is with its history; empty if it had none. */
    Optional<CatchUp> catchUp(String group, String topic);

    /**
     * Stops a group in its history: it keeps its place, and partitions that are through with theirs go on.
     *
     * @throws ConsumerGroupException if it is not catching up
     */
    void cancelCatchUp(String group, String topic);

    /** Lets a group that was stopped in its history go on from where it is. */
    void resumeCatchUp(String group, String topic);

    /** Lets a group pass over the rest of its history: a gap. Returns how many messages that were. */
    long skipCatchUp(String group, String topic);

    /** Declares done what a group has not done, up to the end of the log: a gap. Returns how many messages that were. */
    long forceComplete(String group, String topic);

    /** What a group was not given. */
    List<Gap> gaps(String group, String topic);

    /** Groups that subscribe by a pattern. */
    List<Wildcard> wildcards();

    /** As {@link WildcardGroup#cancel}, from any process. */
    void cancelWildcard(String group, TopicPattern pattern);

    /** Why a message is where it is, for a group. */
    List<Fact> explain(String group, String topic, long messageId);

    /** Why a message is where it is, for a group: one of {@link Priority#NORMAL}, as all are of a topic without priority levels. */
    default List<Fact> explain(String group, String topic, int partition, long offset) {
        return explain(group, topic, partition, Priority.NORMAL, offset);
    }

    /** Why a message is where it is, for a group. */
    List<Fact> explain(String group, String topic, int partition, Priority priority, long offset);

    /**
     * Which groups have handled a message, when, in which process, and who is missing. In mode {@link CompletionTrackingMode#REFERENCE_COUNTING} that is
     * known until the message is dropped; otherwise when and by whom is known for some minutes.
     */
    List<Handled> audit(String topic, long messageId);

    /** What topics keep, and who holds it back. */
    List<TopicHealth> topics();

    /** How the whole installation is, in figures: one query, cheap enough for every few seconds. */
    List<Figure> figures();
}
