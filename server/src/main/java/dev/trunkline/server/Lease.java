package dev.trunkline.server;

import dev.trunkline.PullConsumer;
import dev.trunkline.TrunklineException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;

/** The lease of a batch that is extended as long as there is work on it: somebody may read it page by page. */
record Lease(PullConsumer<?> messages, String token, Duration length) {

    int during(IntSupplier work) {
        CountDownLatch over = new CountDownLatch(1);
        Thread.ofVirtual().name("trunkline-lease").start(() -> extendUntil(over));
        try {
            return work.getAsInt();
        } finally {
            over.countDown();
        }
    }

    private void extendUntil(CountDownLatch over) {
        try {
            while (!over.await(length.toNanos() / 3, TimeUnit.NANOSECONDS)) {
                extend();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void extend() {
        try {
            messages.extend(token, length);
        } catch (TrunklineException e) {
            // The database may be back the next time; if the lease is over, whoever settles the batch is told.
        }
    }
}
