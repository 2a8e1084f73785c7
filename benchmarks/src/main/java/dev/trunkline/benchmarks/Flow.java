package dev.trunkline.benchmarks;

import java.util.Arrays;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * Counts what groups handle, and keeps publishers from running away from the slowest of them: they may be ahead by what that handles in
 * half a second.
 */
final class Flow implements AutoCloseable {

    private static final long LOOK = 500_000;
    private static final int LEAST_AHEAD = 2_000;
    private static final double SECONDS_AHEAD = 0.5;
    private static final long PATIENCE = TimeUnit.MINUTES.toNanos(5);

    private final AtomicLong[] handled;
    private final Semaphore room;
    private final Thread looking;
    private volatile boolean closed;

    /** @param mostAhead messages that may be sent and not handled, at most */
    Flow(int groups, int mostAhead) {
        this.handled = new AtomicLong[groups];
        Arrays.setAll(handled, group -> new AtomicLong());
        int ahead = Math.min(LEAST_AHEAD, mostAhead);
        this.room = new Semaphore(ahead);
        this.looking = Thread.ofPlatform().name("flow").daemon().start(() -> makeRoom(ahead, mostAhead));
    }

    private void makeRoom(int leastAhead, int mostAhead) {
        long began = System.nanoTime();
        long seen = 0;
        int ahead = leastAhead;
        while (!closed) {
            long now = slowest();
            began = now == 0 ? System.nanoTime() : began; // to join may take long, and says nothing of the rate
            double perSecond = now * 1e9 / (System.nanoTime() - began + LOOK);
            int allowed = Math.max(ahead, (int) Math.min(perSecond * SECONDS_AHEAD, mostAhead));
            room.release(Math.toIntExact(now - seen + allowed - ahead));
            seen = now;
            ahead = allowed;
            LockSupport.parkNanos(LOOK);
        }
    }

    /** Waits until so many messages may be sent. */
    void awaitRoom(int messages) throws InterruptedException {
        room.acquire(messages);
    }

    /** From now on nobody waits. */
    void open() {
        room.release(Integer.MAX_VALUE / 2);
    }

    void handled(int group) {
        handled[group].incrementAndGet();
    }

    /** A group has handled so many since the beginning. */
    void handledSoFar(int group, long messages) {
        handled[group].set(messages);
    }

    int groups() {
        return handled.length;
    }

    /** What the groups have handled, all together. */
    long handled() {
        return Arrays.stream(handled).mapToLong(AtomicLong::get).sum();
    }

    private long slowest() {
        return Arrays.stream(handled).mapToLong(AtomicLong::get).min().orElseThrow();
    }

    /** Waits until each group has handled so many. */
    void await(long messages) {
        await(this::slowest, messages);
    }

    /** Waits until all together have handled more than that: who is slow has not handled nothing, but taken longer. */
    void awaitMore(long messages) {
        await(this::handled, messages + 1);
    }

    private static void await(LongSupplier handled, long messages) {
        long began = System.nanoTime();
        while (handled.getAsLong() < messages) {
            if (System.nanoTime() - began > PATIENCE) {
                throw new IllegalStateException(
                        "%d of %d messages were handled after five minutes".formatted(handled.getAsLong(), messages));
            }
            LockSupport.parkNanos(LOOK);
        }
    }

    /** Fails unless each group has handled just so many. */
    void require(long messages) {
        for (AtomicLong group : handled) {
            Tally.require("handled by a group", messages, group.get());
        }
    }

    @Override
    public void close() {
        closed = true;
        LockSupport.unpark(looking);
    }
}
