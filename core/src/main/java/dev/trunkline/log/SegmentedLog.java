package dev.trunkline.log;

import dev.trunkline.Log;
import dev.trunkline.LogMessage;
import dev.trunkline.Priority;
import dev.trunkline.UnknownTopicException;
import dev.trunkline.database.Database;
import dev.trunkline.log.SegmentReader.Found;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** {@link Log} on the segments. */
public final class SegmentedLog implements Log {

    private static final int TAIL_BATCH = 500;
    private static final long MOST_CACHED = 32L * 1024 * 1024;
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    private final SegmentReader reader;
    private final BlockCache cache;
    private final Bell bell;
    private final Doorbell doorbell;
    /** By topic: when who waits for its next messages looks for them, whoever it is. */
    private final Map<String, AtomicLong> nextLooks = new ConcurrentHashMap<>();

    public SegmentedLog(Database database, Bell bell, Doorbell doorbell, Duration pollInterval) {
        this.reader = new SegmentReader(database);
        this.cache = new BlockCache(
                reader,
                bell,
                Math.min(MOST_CACHED, Runtime.getRuntime().maxMemory() / 8),
                PATIENCE,
                pollInterval.dividedBy(10));
        this.bell = bell;
        this.doorbell = doorbell;
    }

    @Override
    public List<LogMessage> read(String topic, int partition, Priority priority, long fromOffset, int most) {
        int strand = reader.topic(topic).strand(partition, priority);
        if (most == 0) {
            return List.of();
        }
        int[] strands = {strand};
        long[] positions = {fromOffset};
        List<LogMessage> messages = new ArrayList<>();
        List<LogMessage> more;
        Stride stride = new Stride();
        long bytes = 0;
        do {
            more = reader.read(topic, strands, positions, stride.most(most - messages.size()))
                    .messages();
            bytes += stride.took(more);
            messages.addAll(more);
        } while (!more.isEmpty() && messages.size() < most && bytes < Stride.MOST_BYTES);
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
        TopicLog known = reader.refresh(topic);
        SegmentReader.Bounds bounds = reader.bounds(known);
        return new Following(known, longs(bounds.ends()), bounds.timeline());
    }

    @Override
    public Tail fromBeginning(String topic) {
        TopicLog known = reader.refresh(topic);
        SegmentReader.Bounds bounds = reader.bounds(known);
        return new Following(known, longs(bounds.firsts()), bounds.timeline());
    }

    @Override
    public Tail resume(String topic, String position) {
        TopicLog known = reader.refresh(topic);
        long[] offsets = Position.parse(position, known);
        SegmentReader.Bounds bounds = reader.bounds(known);
        requireWithin(known, bounds, offsets);
        return new Following(known, offsets, bounds.timeline());
    }

    private void requireWithin(TopicLog topic, SegmentReader.Bounds bounds, long[] offsets) {
        for (int strand = 0; strand < offsets.length; strand++) {
            if (offsets[strand] < bounds.firsts()[strand] || offsets[strand] > bounds.ends()[strand]) {
                throw reader.outOfRange(topic, strand, offsets[strand]);
            }
        }
    }

    private static long[] longs(Long[] offsets) {
        return Stream.of(offsets).mapToLong(Long::longValue).toArray();
    }

    /** How much is read at once: little at first, then as much as messages of that size allow. */
    private static final class Stride {
        private static final long MOST_BYTES = 16L * 1024 * 1024;
        private static final int GROWTH = 8;

        private long next = 16;

        /** So many, if so many are wanted. */
        int most(int wanted) {
            return Math.clamp(next, 1, wanted);
        }

        /** Returns how many bytes that was. */
        long took(List<LogMessage> messages) {
            long bytes =
                    messages.stream().mapToLong(its -> its.payload().length).sum();
            if (!messages.isEmpty()) {
                next = Math.min(next * GROWTH, MOST_BYTES / (1 + bytes / messages.size()));
            }
            return bytes;
        }
    }

    /** Follows a topic. Of many that wait for the same, one looks now and then, and tells the others. */
    private final class Following implements Tail {
        private static final long NEVER = -1;
        private static final long NONE = -1;

        private final TopicLog begun;
        private final String topic;
        private final int[] strands;
        private final long[] positions;
        /** Of the last message that was told, by strand; or none. */
        private final long[] lastIds;

        private final AtomicLong nextLook;
        private final Stride stride = new Stride();
        /** How often the bell had been rung when it was seen last that there is nothing more. */
        private long heard = NEVER;
        /** In which timeline of the server the positions were found to be in the log. */
        private String timeline;

        private Following(TopicLog begun, long[] from, String timeline) {
            this.begun = begun;
            this.topic = begun.name();
            this.strands = IntStream.range(0, from.length).toArray();
            this.positions = from;
            this.lastIds = new long[from.length];
            Arrays.fill(lastIds, NONE);
            this.timeline = timeline;
            this.nextLook = nextLooks.computeIfAbsent(topic, t -> new AtomicLong(System.nanoTime()));
        }

        @Override
        public List<LogMessage> poll(Duration timeout) throws InterruptedException {
            long deadline = System.nanoTime() + timeout.toNanos();
            while (true) {
                boolean mine = isMyTurn();
                long rings = bell.count(topic);
                if (mine || rings != heard) {
                    int each = Math.max(1, stride.most(TAIL_BATCH * strands.length) / strands.length);
                    List<LogMessage> messages = read(each);
                    stride.took(messages);
                    heard = messages.isEmpty() ? rings : NEVER;
                    if (mine && !messages.isEmpty()) {
                        bell.ring(topic);
                    }
                    if (!messages.isEmpty()) {
                        return messages;
                    }
                }
                long left = deadline - System.nanoTime();
                if (left <= 0) {
                    return List.of();
                }
                bell.await(topic, rings, Math.min(left, Math.max(1, nextLook.get() - System.nanoTime())));
            }
        }

        private List<LogMessage> read(int each) {
            long[] next = positions.clone();
            Found found = reader.read(begun, strands, next, each);
            String here = found.timeline();
            if (here != null && !here.equals(timeline)) {
                requireSame();
                timeline = here;
                return read(each);
            }
            for (int strand = 0; strand < next.length; strand++) {
                if (next[strand] > positions[strand]) {
                    lastIds[strand] =
                            found.stretches().get(strand).messages().getLast().id();
                }
            }
            System.arraycopy(next, 0, positions, 0, next.length);
            return found.messages();
        }

        /** Where a standby has taken over, the end of the log may be lost, and its offsets given again: it would pass over messages. */
        private void requireSame() {
            TopicLog now = reader.refresh(topic);
            SegmentReader.Bounds bounds = reader.bounds(now);
            requireWithin(now, bounds, positions);
            for (int strand : strands) {
                long last = positions[strand] - 1;
                if (lastIds[strand] != NONE && last >= bounds.firsts()[strand]) {
                    List<LogMessage> lying = reader.read(begun, new int[] {strand}, new long[] {last}, 1)
                            .messages();
                    if (lying.isEmpty() || lying.getFirst().id() != lastIds[strand]) {
                        throw reader.outOfRange(now, strand, last);
                    }
                }
            }
        }

        @Override
        public String position() {
            return Position.text(begun, positions);
        }

        private boolean isMyTurn() {
            long next = nextLook.get();
            long now = System.nanoTime();
            return now - next >= 0
                    && nextLook.compareAndSet(
                            next, now + doorbell.pollInterval().toNanos());
        }
    }
}
