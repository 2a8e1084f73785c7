package dev.trunkline.server.http;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.io.Content;
import org.jspecify.annotations.Nullable;

/** A request's body, as it comes. It is refused as soon as it is longer than allowed, or does not come in time: nothing after that is read. */
final class Body extends InputStream {

    /** How soon it is noticed that it is not to be waited for any more. */
    private static final Duration STEP = Duration.ofSeconds(1);

    private final Content.Source source;
    private Content.@Nullable Chunk chunk;
    private boolean ended;
    private boolean late;

    private long limit = Long.MAX_VALUE;
    private long count;
    private Duration patience = Duration.ZERO;
    private long deadline;
    private Runnable beforeWaiting = () -> {};
    private BooleanSupplier stopping = () -> false;

    Body(Content.Source source) {
        this.source = source;
    }

    /** From now on so much may come, all of it within that time, and nothing is done meanwhile. */
    Body limited(long bytes, Duration within) {
        beforeWaiting = () -> {};
        stopping = () -> false;
        limit = count + bytes;
        patience = within;
        deadline = System.nanoTime() + within.toNanos();
        return this;
    }

    /**
     * However much comes, and however long it takes.
     *
     * @param atATime how long there may be nothing of it
     * @param runBeforeWaiting what is done when there is nothing of it
     * @param until when it is not waited for any more
     */
    Body endless(Duration atATime, Runnable runBeforeWaiting, BooleanSupplier until) {
        stopping = until;
        limit = Long.MAX_VALUE;
        patience = atATime;
        beforeWaiting = () -> {
            runBeforeWaiting.run();
            deadline = System.nanoTime() + atATime.toNanos();
        };
        return this;
    }

    /** Whether it did not come in time. Then it can not be read any more. */
    boolean isLate() {
        return late;
    }

    static Problem tooLong(long limit) {
        return new Problem(
                HttpStatus.PAYLOAD_TOO_LARGE_413,
                "the body is longer than " + limit
                        + " bytes: send less at once, or lines of JSON as application/x-ndjson");
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] bytes, int from, int length) throws IOException {
        if (length == 0) {
            return 0;
        }
        Content.Chunk next = next();
        if (next == null) {
            return -1;
        }
        int read = next.get(bytes, from, length);
        count += read;
        if (count > limit) {
            throw tooLong(limit);
        }
        return read;
    }

    /** Something of it; null at its end. */
    private Content.@Nullable Chunk next() throws IOException {
        while (!ended) {
            Content.Chunk next = chunk;
            if (next == null) {
                next = source.read();
                chunk = next;
            }
            if (next == null) {
                await();
            } else if (Content.Chunk.isFailure(next)) {
                throw new IOException("the body did not come to its end", next.getFailure());
            } else if (next.hasRemaining()) {
                return next;
            } else {
                ended = next.isLast();
                next.release();
                chunk = null;
            }
        }
        return null;
    }

    private void await() throws IOException {
        beforeWaiting.run();
        CountDownLatch come = new CountDownLatch(1);
        source.demand(come::countDown);
        try {
            boolean here = false;
            for (long left = deadline - System.nanoTime(); !here && left > 0; left = deadline - System.nanoTime()) {
                here = come.await(Math.min(left, STEP.toNanos()), TimeUnit.NANOSECONDS);
                late = !here && stopping.getAsBoolean();
                if (late) {
                    throw HttpServer.stops();
                }
            }
            late = !here;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while a body came");
        }
        if (late) {
            throw new Problem(
                    HttpStatus.REQUEST_TIMEOUT_408, "the body did not come within " + patience.toSeconds() + " s");
        }
    }

    /** It is not its reader's: a refusal reads what is left of it, and the server would take it for a failure. */
    @Override
    public void close() {}
}
