package dev.trunkline.log;

import dev.trunkline.LogMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What is cached of a strand: blocks that do not overlap, where the strand ended when that was last seen, and what is being fetched
 * of it. The cache's lock guards it.
 */
final class CachedStrand {

    private static final long LATELY = TimeUnit.SECONDS.toNanos(10);

    /** Messages that follow each other. */
    static final class Block {
        private final CachedStrand strand;
        private final List<LogMessage> messages;
        private final long bytes;

        private Block(CachedStrand strand, List<LogMessage> messages, long bytes) {
            this.strand = strand;
            this.messages = messages;
            this.bytes = bytes;
        }

        long bytes() {
            return bytes;
        }

        private long first() {
            return messages.getFirst().offset();
        }

        private long end() {
            return first() + messages.size();
        }

        List<LogMessage> from(long offset, int most) {
            int skipped = (int) (offset - first());
            return messages.subList(skipped, (int) Math.min(messages.size(), (long) skipped + most));
        }

        void remove() {
            strand.blocks.remove(first());
        }
    }

    private final TreeMap<Long, Block> blocks = new TreeMap<>();
    private final TreeMap<Long, BlockCache.Fetch> fetches = new TreeMap<>();
    private @Nullable Object lastReader;
    private long joined;
    private boolean shared;
    private long end = -1;
    private long endRings;
    private long endSeen;

    /** Somebody reads it. */
    void readBy(Object who) {
        if (lastReader != null && !lastReader.equals(who)) {
            shared = true;
            joined = System.nanoTime();
        }
        lastReader = who;
    }

    /** Whether more than one read it lately: what nobody else will ask for is not worth keeping. */
    boolean isShared() {
        shared &= System.nanoTime() - joined < LATELY;
        return shared;
    }

    /** The block that holds an offset. */
    @Nullable
    Block holding(long offset) {
        Map.Entry<Long, Block> block = blocks.floorEntry(offset);
        return block == null || block.getValue().end() <= offset ? null : block.getValue();
    }

    /**
     * Adds what is not there yet of messages that follow each other, and returns it, in blocks of so many bytes. A message that is
     * larger is a block of its own; one that is too heavy is left out.
     */
    List<Block> add(List<LogMessage> messages, long blockBytes, long heavy) {
        List<Block> added = new ArrayList<>();
        int to;
        for (int from = 0; from < messages.size(); from = to) {
            long offset = messages.get(from).offset();
            Block there = holding(offset);
            if (there != null) {
                to = from + (int) (there.end() - offset);
                continue;
            }
            Long next = blocks.higherKey(offset);
            int end = next == null ? messages.size() : (int) Math.min(messages.size(), from + next - offset);
            long bytes = weight(messages.get(from));
            for (to = from + 1; to < end && bytes + weight(messages.get(to)) <= blockBytes; to++) {
                bytes += weight(messages.get(to));
            }
            if (bytes < heavy) {
                Block block = new Block(this, List.copyOf(messages.subList(from, to)), bytes);
                blocks.put(offset, block);
                added.add(block);
            }
        }
        return added;
    }

    private static long weight(LogMessage message) {
        long bytes = message.payload().length + 300L;
        for (Map.Entry<String, String> header : message.headers().entrySet()) {
            bytes += 2L * (header.getKey().length() + header.getValue().length()) + 100;
        }
        return bytes;
    }

    /** It ended there when somebody looked who had heard so many rings. */
    void endsAt(long offset, long rings, long seen) {
        end = offset;
        endRings = rings;
        endSeen = seen;
    }

    /** Whether it ended there, as far as somebody knows who has heard so many rings; believed for so long. */
    boolean isEnd(long offset, long rings, long nanos) {
        return end == offset && endRings == rings && System.nanoTime() - endSeen < nanos;
    }

    void begin(long position, BlockCache.Fetch fetch) {
        fetches.put(position, fetch);
    }

    void finish(long position, BlockCache.Fetch fetch) {
        fetches.remove(position, fetch);
    }

    /** Who is about to bring an offset, if it is there. */
    BlockCache.@Nullable Fetch fetching(long offset) {
        Map.Entry<Long, BlockCache.Fetch> fetch = fetches.floorEntry(offset);
        return fetch == null || fetch.getKey() + fetch.getValue().most() <= offset ? null : fetch.getValue();
    }
}
