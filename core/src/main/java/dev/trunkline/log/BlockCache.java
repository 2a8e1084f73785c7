package dev.trunkline.log;

import dev.trunkline.LogMessage;
import dev.trunkline.TrunklineException;
import dev.trunkline.UnknownTopicException;
import dev.trunkline.log.CachedStrand.Block;
import dev.trunkline.log.SegmentReader.Found;
import dev.trunkline.log.SegmentReader.Stretch;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * What was last read of the log in this process, so that groups at the same place share a read. Groups own their positions and ask
 * by range; one that is slow misses what has gone, and reads for itself.
 *
 * <p>What is not there is fetched by the first who asks, in one statement for all strands that he misses. Who asks meanwhile waits for
 * it, shares what it brings, and asks again if it failed or brought him nothing. That a strand has ended is believed only while nobody has
 * rung since before the statement was sent, and only for a moment, because a ring may be lost.
 */
final class BlockCache {

    /** It holds about so many blocks. */
    private static final int BLOCKS = 256;

    /** What takes such a part of it is not kept: it would cost everything else. */
    private static final int HEAVY = 8;

    private final SegmentReader reader;
    private final Bell bell;
    private final long mostBytes;
    private final long patience;
    private final long moment;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<Place, CachedStrand> strands = new HashMap<>();
    /** What was used longest ago comes first, and goes first. */
    private final LinkedHashSet<Block> blocks = new LinkedHashSet<>();

    private long bytes;
    /** In which it reads; null: whichever. */
    private volatile @Nullable String timeline;

    /** A topic that is created anew under the same name has another id. */
    private record Place(int topic, int strand) {}

    /** A strand that somebody wants to read from a position on. */
    private record Wish(Place place, CachedStrand strand, long position) {}

    /** A statement under way. */
    static final class Fetch {
        private final int most;
        private final long rings;
        private final long began = System.nanoTime();
        private final List<Wish> wishes = new ArrayList<>();
        private final CountDownLatch done = new CountDownLatch(1);
        /** By strand. */
        private volatile Map<Integer, List<LogMessage>> brought = Map.of();

        Fetch(int most, long rings) {
            this.most = most;
            this.rings = rings;
        }

        int most() {
            return most;
        }

        /** What it has brought of a strand from a position on. */
        private List<LogMessage> brought(Wish wish, int atMost) {
            List<LogMessage> messages = brought.getOrDefault(wish.place().strand(), List.of());
            long skipped = messages.isEmpty()
                    ? 0
                    : wish.position() - messages.getFirst().offset();
            return skipped >= messages.size()
                    ? List.of()
                    : messages.subList((int) skipped, (int) Math.min(messages.size(), skipped + atMost));
        }
    }

    /**
     * An empty cache.
     *
     * @param patience how long to wait for what somebody else fetches
     * @param moment how long to believe that a strand has ended, unless somebody rings
     */
    BlockCache(SegmentReader reader, Bell bell, long mostBytes, Duration patience, Duration moment) {
        this.reader = reader;
        this.bell = bell;
        this.mostBytes = mostBytes;
        this.patience = patience.toNanos();
        this.moment = moment.toNanos();
    }

    SegmentedLog.Reading reading(String name) {
        int topic = reader.refresh(name).id();
        Object who = new Object();
        return (numbers, positions, most) -> read(who, name, topic, numbers, positions, most);
    }

    /**
     * What others are about to bring is left out if there is anything else. Nothing means that there was nothing a moment ago and
     * nobody has rung since, or that the thread was interrupted.
     */
    private Map<Integer, List<LogMessage>> read(
            Object who, String name, int topic, int[] numbers, long[] positions, int most) {
        while (true) {
            Map<Integer, List<LogMessage>> found = new HashMap<>();
            Map<Wish, Fetch> others = new HashMap<>();
            Fetch mine = new Fetch(most, bell.count(name));
            lock.lock();
            try {
                for (int i = 0; i < numbers.length; i++) {
                    Place place = new Place(topic, numbers[i]);
                    CachedStrand strand = strands.computeIfAbsent(place, p -> new CachedStrand());
                    strand.readBy(who);
                    look(new Wish(place, strand, positions[i]), mine, others, found);
                }
            } finally {
                lock.unlock();
            }
            if (!mine.wishes.isEmpty()) {
                fetch(name, topic, mine);
                found.putAll(mine.brought);
            }
            if (found.isEmpty()) {
                share(others, most, found);
            }
            if (!found.isEmpty() || others.isEmpty() || Thread.currentThread().isInterrupted()) {
                return found;
            }
        }
    }

    private void look(Wish wish, Fetch mine, Map<Wish, Fetch> others, Map<Integer, List<LogMessage>> found) {
        List<LogMessage> messages = cached(wish.strand(), wish.position(), mine.most);
        if (!messages.isEmpty()) {
            found.put(wish.place().strand(), messages);
            return;
        }
        if (wish.strand().isEnd(wish.position(), mine.rings, moment)) {
            return;
        }
        Fetch other = wish.strand().fetching(wish.position());
        if (other != null && System.nanoTime() - other.began < patience) {
            others.put(wish, other);
        } else {
            mine.wishes.add(wish);
            wish.strand().begin(wish.position(), mine);
        }
    }

    private List<LogMessage> cached(CachedStrand strand, long position, int most) {
        List<LogMessage> messages = new ArrayList<>();
        Block block = strand.holding(position);
        while (block != null && messages.size() < most) {
            blocks.addLast(block);
            messages.addAll(block.from(position + messages.size(), most - messages.size()));
            block = strand.holding(position + messages.size());
        }
        return messages;
    }

    private void fetch(String name, int topic, Fetch mine) {
        try {
            Found read = reader.read(
                    name,
                    mine.wishes.stream().mapToInt(wish -> wish.place().strand()).toArray(),
                    mine.wishes.stream().mapToLong(Wish::position).toArray(),
                    mine.most);
            if (read.topic().id() != topic) {
                throw new UnknownTopicException("topic \"" + name + "\" was dropped, and another has its name now");
            }
            read.stretches().forEach(this::requireTimeline);
            keep(mine, read.stretches());
        } catch (UnknownTopicException e) {
            clear();
            throw e;
        } finally {
            lock.lock();
            try {
                mine.wishes.forEach(wish -> wish.strand().finish(wish.position(), mine));
            } finally {
                lock.unlock();
            }
            mine.done.countDown();
        }
    }

    /** After a standby took over, other messages may lie at the same offsets. Who asks had what was there before, and must not go on with these. */
    private void requireTimeline(Stretch stretch) {
        String its = stretch.timeline();
        String expected = timeline;
        if (its != null && expected != null && !expected.equals(its)) {
            throw new TrunklineException("a standby has taken over (timeline " + its + ", before " + expected
                    + "): nothing is read until this process has noticed");
        }
    }

    private void keep(Fetch mine, List<Stretch> stretches) {
        Map<Integer, List<LogMessage>> brought = new HashMap<>();
        lock.lock();
        try {
            for (int i = 0; i < stretches.size(); i++) {
                Wish wish = mine.wishes.get(i);
                List<LogMessage> messages = stretches.get(i).messages();
                if (!messages.isEmpty()) {
                    brought.put(wish.place().strand(), messages);
                }
                // Not if all was cleared meanwhile.
                if (strands.get(wish.place()) == wish.strand()) {
                    if (wish.strand().isShared()) {
                        add(wish.strand().add(messages, mostBytes / BLOCKS, mostBytes / HEAVY));
                    }
                    if (stretches.get(i).ended()) {
                        wish.strand().endsAt(wish.position() + messages.size(), mine.rings, mine.began);
                    }
                }
            }
        } finally {
            lock.unlock();
        }
        mine.brought = brought;
    }

    private void add(List<Block> added) {
        for (Block block : added) {
            blocks.addLast(block);
            bytes += block.bytes();
        }
        while (bytes > mostBytes) {
            Block oldest = blocks.removeFirst();
            oldest.remove();
            bytes -= oldest.bytes();
        }
    }

    /** Waits for what others fetch until there is something. */
    private void share(Map<Wish, Fetch> others, int most, Map<Integer, List<LogMessage>> found) {
        try {
            for (Map.Entry<Wish, Fetch> other : others.entrySet()) {
                Fetch fetch = other.getValue();
                long wait = found.isEmpty() ? fetch.began + patience - System.nanoTime() : 0;
                if (fetch.done.await(wait, TimeUnit.NANOSECONDS)) {
                    List<LogMessage> messages = fetch.brought(other.getKey(), most);
                    if (!messages.isEmpty()) {
                        found.put(other.getKey().place().strand(), messages);
                    }
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** How much is kept. */
    long bytes() {
        lock.lock();
        try {
            return bytes;
        } finally {
            lock.unlock();
        }
    }

    /** Forgets everything, and reads in this timeline only. */
    void readIn(String newTimeline) {
        timeline = newTimeline;
        clear();
    }

    /** Forgets everything, also what is being fetched. */
    void clear() {
        lock.lock();
        try {
            strands.clear();
            blocks.clear();
            bytes = 0;
        } finally {
            lock.unlock();
        }
    }
}
