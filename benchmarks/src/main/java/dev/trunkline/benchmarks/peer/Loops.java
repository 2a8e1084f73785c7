package dev.trunkline.benchmarks.peer;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Threads that do the same again and again until they are told to end. */
final class Loops implements AutoCloseable {

    private final List<Thread> running = new ArrayList<>();
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private volatile boolean closed;

    /** One round of a thread. */
    @FunctionalInterface
    interface Round {
        void run() throws Exception;
    }

    /** Starts a thread, which closes a resource when it ends. */
    void start(AutoCloseable resource, Round round) {
        running.add(Thread.ofPlatform().name("consumer").daemon().start(() -> {
            try (resource) {
                while (!closed) {
                    round.run();
                }
            } catch (Throwable e) {
                failure.compareAndSet(null, e);
            }
        }));
    }

    /** Lets each thread end its round, and fails if one has failed. */
    @Override
    public void close() {
        closed = true;
        running.forEach(Loops::join);
        if (failure.get() != null) {
            throw new IllegalStateException("a consumer has failed", failure.get());
        }
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while a consumer ended", e);
        }
    }
}
