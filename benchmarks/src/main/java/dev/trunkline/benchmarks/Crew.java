package dev.trunkline.benchmarks;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/** Platform threads that do the same over and over, each with a worker of its own. */
final class Crew implements AutoCloseable {

    private final List<Worker> workers = new ArrayList<>();

    /** What one thread does, with the connection it may have. */
    @FunctionalInterface
    interface Worker extends AutoCloseable {
        /** Does it once and returns how many units that were. */
        long work() throws Exception;

        @Override
        default void close() throws SQLException {}
    }

    @FunctionalInterface
    interface Hire {
        Worker hire() throws Exception;
    }

    static Crew of(int size, Hire hire) throws Exception {
        Crew crew = new Crew();
        try {
            for (int i = 0; i < size; i++) {
                crew.workers.add(hire.hire());
            }
        } catch (Exception e) {
            crew.close();
            throw e;
        }
        return crew;
    }

    /** Works for so long, and returns the units in a second. */
    double rate(double seconds) throws Exception {
        long began = System.nanoTime();
        long units = work(seconds);
        return units * 1e9 / (System.nanoTime() - began);
    }

    /** Works for so long, and returns the units. */
    long work(double seconds) throws Exception {
        long began = System.nanoTime();
        long nanos = (long) (seconds * 1e9);
        return start(units -> units == 0 || System.nanoTime() - began < nanos).join(); // also on a machine that stalls
    }

    /** Works so many times in all. */
    void times(int calls) throws Exception {
        AtomicLong left = new AtomicLong(calls);
        start(units -> left.getAndDecrement() > 0).join();
    }

    /** Begins to work, as long as that says of the units that were done so far. */
    Shift start(LongPredicate goOn) {
        return new Shift(goOn);
    }

    @Override
    public void close() throws SQLException {
        for (Worker worker : workers) {
            worker.close();
        }
    }

    /** One run of all threads. */
    final class Shift {
        private final LongPredicate goOn;
        private final CountDownLatch done = new CountDownLatch(workers.size());
        private final AtomicLong units = new AtomicLong();
        private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

        private Shift(LongPredicate goOn) {
            this.goOn = goOn;
            for (Worker worker : workers) {
                Thread.ofPlatform().name("crew").daemon().start(() -> {
                    try {
                        work(worker);
                    } finally {
                        done.countDown();
                    }
                });
            }
        }

        /** Waits for the end, and returns the units. */
        long join() throws Exception {
            done.await();
            if (failure.get() != null) {
                throw new ExecutionException(failure.get());
            }
            return units.get();
        }

        private void work(Worker worker) {
            try {
                while (failure.get() == null && goOn.test(units.get())) {
                    units.addAndGet(worker.work());
                }
            } catch (Throwable e) {
                failure.compareAndSet(null, e);
            }
        }
    }
}
