package dev.trunkline.log;

import dev.trunkline.Log;
import dev.trunkline.LogMessage;
import dev.trunkline.Priority;
import dev.trunkline.UnknownTopicException;
import dev.trunkline.database.Database;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** {@link Log} on the segments. */
public final class SegmentedLog implements Log {

    private static final int TAIL_BATCH = 500;
    private static final long MOST_CACHED = 32L * 1024 * 1024;
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    private final SegmentReader reader;
    private final BlockCache cache;
    private final Bell bell;
    private final Duration pollInterval;

    public SegmentedLog(Database database, Bell bell, Duration pollInterval) {
        this.reader = new SegmentReader(database);
        this.cache = new BlockCache(
                reader,
                bell,
                Math.min(MOST_CACHED, Runtime.getRuntime().maxMemory() / 8),
                PATIENCE,
                pollInterval.dividedBy(10));
        this.bell = bell;
        this.pollInterval = pollInterval;
    }

    @Override
    public List<LogMessage> read(String topic, int partition, Priority priority, long fromOffset, int most) {
        int strand = reader.topic(topic).strand(partition, priority);
        int[] strands = {strand};
        long[] positions = {fromOffset};
        List<LogMessage> messages = new ArrayList<>();
        List<LogMessage> more;
        do {
            more = reader.read(topic, strands, positions, most - messages.size())
                    .messages();
            messages.addAll(more);
        } while (!more.isEmpty() && messages.size() < most);
        if (messages.isEmpty() && fromOffset > end(topic, partition, priority)) {
            throw reader.outOfRange(reader.topic(topic), strand, fromOffset);
        }
        return messages;
    }

    /** Reads a topic for a group: messages of some strands from their positions on, at most so many of each, by strand. */
    @FunctionalInterface
    public interface Reading {
        Map<Integer, List<LogMessage>> read(int[] strands, long[] positions, int most);
    }

    /**
     * Reads the topic that has this name now, and shares what is read with others who do.
     *
     * @throws UnknownTopicException if there is no such topic
     */
    public Reading reading(String topic) {
        return cache.reading(topic);
    }

    /** From now on groups read in a timeline of the server. What was read in another one, and what is known of topics, is forgotten. */
    public void readIn(String timeline) {
        reader.forget();
        cache.readIn(timeline);
    }

    @Override
    public long first(String topic, int partition, Priority priority) {
        TopicLog known = reader.refresh(topic);
        return reader.bounds(known).firsts()[known.strand(partition, priority)];
    }

    @Override
    public long end(String topic, int partition, Priority priority) {
        TopicLog known = reader.refresh(topic);
        return reader.bounds(known).ends()[known.strand(partition, priority)];
    }

    @Override
    public long offsetAt(String topic, int partition, Priority priority, Instant time) {
        TopicLog known = reader.refresh(topic);
        return reader.offsetAt(known, known.strand(partition, priority), time.atOffset(ZoneOffset.UTC));
    }

    @Override
    public Tail tail(String topic) {
        return follow(topic, reader.bounds(reader.refresh(topic)).ends());
    }

    @Override
    public Tail fromBeginning(String topic) {
        return follow(topic, reader.bounds(reader.refresh(topic)).firsts());
    }

    private Tail follow(String topic, Long[] from) {
        int[] strands = IntStream.range(0, from.length).toArray();
        long[] positions = IntStream.range(0, from.length)
                .mapToLong(strand -> from[strand])
                .toArray();
        return timeout -> {
            long deadline = System.nanoTime() + timeout.toNanos();
            while (true) {
                long heard = bell.count(topic);
                List<LogMessage> messages =
                        reader.read(topic, strands, positions, TAIL_BATCH).messages();
                long left = deadline - System.nanoTime();
                if (!messages.isEmpty() || left <= 0) {
                    return messages;
                }
                bell.await(topic, heard, Math.min(left, pollInterval.toNanos()));
            }
        };
    }
}
