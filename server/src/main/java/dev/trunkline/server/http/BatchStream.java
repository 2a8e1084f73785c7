package dev.trunkline.server.http;

import dev.trunkline.Batch;
import dev.trunkline.LeaseExpiredException;
import dev.trunkline.PullConsumer;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Tells batches as they come, a number of them at once: who does not settle them gets no more before their leases are over. */
final class BatchStream {

    /** How often it is looked whether a batch was settled elsewhere. */
    private static final Duration LOOK = Duration.ofSeconds(1);

    /** The batches that streams of this server have told and that are not known to be over, by token. */
    static final class Told {
        private final Map<String, Open> open = new ConcurrentHashMap<>();

        /** Something was settled here: whose stream it is looks at once. */
        void settled(String token) {
            Open its = open.get(token);
            if (its != null) {
                its.settled.release();
            }
        }

        void extended(String token, Duration lease) {
            Open its = open.get(token);
            if (its != null) {
                its.expires = System.nanoTime() + lease.toNanos();
            }
        }
    }

    private static final class Open {
        private final String token;
        private final Semaphore settled;
        private volatile long expires;

        private Open(String token, Semaphore settled, Duration lease) {
            this.token = token;
            this.settled = settled;
            this.expires = System.nanoTime() + lease.toNanos();
        }
    }

    /**
     * What a caller wants.
     *
     * @param max messages of a batch at most
     * @param most batches that may be open at once
     */
    record Wish(int max, Duration lease, int most) {}

    private final PullConsumer<byte[]> consumer;
    private final Wish wish;
    private final Told told;
    private final BooleanSupplier stopping;
    private final Semaphore settled = new Semaphore(0);
    private final List<Open> open = new ArrayList<>();

    BatchStream(PullConsumer<byte[]> consumer, Wish wish, Told told, BooleanSupplier stopping) {
        this.consumer = consumer;
        this.wish = wish;
        this.told = told;
        this.stopping = stopping;
    }

    /** Goes on until the server stops, the caller goes, or may not have them any more. */
    void tell(Exchange exchange) throws Exception {
        try (Events events = new Events(exchange)) {
            while (!stopping.getAsBoolean() && exchange.isStillAllowed()) {
                Optional<Batch<byte[]>> batch = open.size() < wish.most
                        ? PullRoutes.pop(exchange, consumer, wish.max, wish.lease, Events.QUIET)
                        : Optional.empty();
                if (batch.isPresent()) {
                    tell(events, batch.get());
                    continue;
                }
                if (open.size() == wish.most && settled.tryAcquire(LOOK.toMillis(), TimeUnit.MILLISECONDS)) {
                    settled.drainPermits();
                }
                open.removeIf(this::isOver);
                events.alive();
            }
        } finally {
            open.forEach(its -> told.open.remove(its.token));
        }
    }

    /** A batch that could not be told is released, not kept from others for as long as its lease. */
    private void tell(Events events, Batch<byte[]> batch) throws IOException {
        Open its = new Open(batch.token(), settled, wish.lease);
        open.add(its);
        told.open.put(its.token, its);
        try {
            events.tell("batch", its.token, PullRoutes.PulledBatch.of(batch));
            events.flush();
        } catch (IOException e) {
            consumer.release(its.token);
            throw e;
        }
    }

    /** Whether a batch was settled, here or by another server, or its lease is over. */
    private boolean isOver(Open its) {
        boolean over = System.nanoTime() - its.expires > 0;
        try {
            over |= consumer.ack(its.token, List.of()).isEmpty();
        } catch (LeaseExpiredException e) {
            over = true;
        }
        if (over) {
            told.open.remove(its.token);
        }
        return over;
    }
}
