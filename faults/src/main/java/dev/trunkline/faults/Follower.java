package dev.trunkline.faults;

import dev.trunkline.Log;
import dev.trunkline.LogMessage;
import dev.trunkline.OffsetOutOfRangeException;
import dev.trunkline.Trunkline;
import dev.trunkline.TrunklineException;
import dev.trunkline.checker.Event;
import dev.trunkline.checker.Journal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Reads the log as it grows, one message after the other, and writes it down. What fails is tried again from where it was. */
final class Follower implements AutoCloseable {

    private static final Duration POLL = Duration.ofMillis(200);

    private final Address address;
    private final Journal journal;
    private final AtomicLong seen = new AtomicLong();
    /** By partition, the offset behind what it has come to. */
    private final Map<Integer, Long> next = new ConcurrentHashMap<>();

    private final Thread thread;
    private volatile boolean stopped;
    private volatile @Nullable Throwable failure;
    private int tails;

    Follower(Address address, Journal journal) {
        this.address = address;
        this.journal = journal;
        this.thread = Thread.ofPlatform()
                .name("follower")
                .uncaughtExceptionHandler((it, e) -> failure = e)
                .start(this::run);
    }

    private void run() {
        try (Trunkline trunkline = address.open()) {
            Log.Tail tail = null;
            while (!stopped) {
                tail = follow(trunkline.log(), tail);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The tail to go on with; none if it can not go on where it was, which it says: what it has not come to is gone. */
    private Log.@Nullable Tail follow(Log log, Log.@Nullable Tail before) throws InterruptedException {
        try {
            Log.Tail tail = before == null ? begin(log) : before;
            List<Event> reads = tail.poll(POLL).stream().map(this::read).toList();
            journal.write(reads);
            seen.addAndGet(reads.size());
            return tail;
        } catch (OffsetOutOfRangeException e) {
            return null;
        } catch (TrunklineException e) {
            return before; // the server is away, as may be
        }
    }

    private Event read(LogMessage message) {
        if (next.put(message.partition(), message.offset() + 1) == null && tails == 1 && message.offset() != 0) {
            throw new IllegalStateException(message + " is the first that was read, and nothing was dropped");
        }
        return new Event.Read(
                System.nanoTime(),
                "follower-" + tails,
                message.topic(),
                message.partition(),
                message.offset(),
                new String(message.payload(), StandardCharsets.UTF_8));
    }

    private Log.Tail begin(Log log) {
        tails++;
        next.clear();
        return log.fromBeginning(Workload.ORDERS);
    }

    /** Where it goes on in a partition. */
    long next(int partition) {
        return next.getOrDefault(partition, 0L);
    }

    long seen() {
        return seen.get();
    }

    /** Whether it could go on to the end. */
    void requireWell() {
        if (failure != null) {
            throw new IllegalStateException("the log could not be read", failure);
        }
    }

    @Override
    public void close() {
        stopped = true;
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
