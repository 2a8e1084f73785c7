package dev.trunkline.benchmarks;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
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
        long nanos = (long) (seconds * 1e9);
        long units = new Shift(() -> System.nanoTime() - began < nanos).run();
        return units * 1e9 / (System.nanoTime() - began);
    }

    /** Works so many times in all. */
    void times(int calls) throws Exception {
        AtomicLong left = new AtomicLong(calls);
        new Shift(() -> left.getAndDecrement() > 0).run();
    }

    @Override
    public void close() throws SQLException {
        for (Worker worker : workers) {
            worker.close();
        }
    }

    /** One run of all threads. */
    private final class Shift {
        private final BooleanSupplier goOn;
        private final AtomicLong units = new AtomicLong();
        private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

        Shift(BooleanSupplier goOn) {
            this.goOn = goOn;
        }

        long run() throws Exception {
            CountDownLatch done = new CountDownLatch(workers.size());
            for (Worker worker : workers) {
                Thread.ofPlatform().name("crew").daemon().start(() -> {
                    try {
                        work(worker);
                    } finally {
                        done.countDown();
                    }
                });
            }
            done.await();
            if (failure.get() != null) {
                throw new ExecutionException(failure.get());
            }
            return units.get();
        }

        private void work(Worker worker) {
            long mine = 0;
            try {
                while (failure.get() == null && goOn.getAsBoolean()) {
                    mine += worker.work();
                }
            } catch (Throwable e) {
                failure.compareAndSet(null, e);
            }
            units.addAndGet(mine);
        }
    }
}
