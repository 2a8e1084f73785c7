package dev.trunkline.log;

import dev.trunkline.Log;
import dev.trunkline.LogMessage;
import dev.trunkline.Priority;
import dev.trunkline.database.Database;
import dev.trunkline.log.SegmentReader.Stretch;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** {@link Log} on the segments. */
public final class SegmentedLog implements Log {

    private static final int TAIL_BATCH = 500;

    private final SegmentReader reader;
    private final Bell bell;
    private final Duration pollInterval;

    public SegmentedLog(Database database, Bell bell, Duration pollInterval) {
        this.reader = new SegmentReader(database);
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

    /** Messages of some strands from their positions on, at most so many of each, by strand. */
    public Map<Integer, List<LogMessage>> read(String topic, int[] strands, long[] positions, int most) {
        List<Stretch> stretches = reader.read(topic, strands, positions, most).stretches();
        Map<Integer, List<LogMessage>> found = new HashMap<>();
        for (int i = 0; i < strands.length; i++) {
            found.put(strands[i], stretches.get(i).messages());
        }
        return found;
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
                long heard = bell.count();
                List<LogMessage> messages =
                        reader.read(topic, strands, positions, TAIL_BATCH).messages();
                long left = deadline - System.nanoTime();
                if (!messages.isEmpty() || left <= 0) {
                    return messages;
                }
                bell.await(heard, Math.min(left, pollInterval.toNanos()));
            }
        };
    }
}
