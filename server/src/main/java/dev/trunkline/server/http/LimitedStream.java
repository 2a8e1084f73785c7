package dev.trunkline.server.http;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.eclipse.jetty.http.HttpStatus;

/** A body that is refused as soon as it is longer than allowed, or takes longer to come: nothing of what comes after that is read. */
final class LimitedStream extends FilterInputStream {

    private static final Duration LONGEST = Duration.ofSeconds(30);

    private final long limit;
    private final LongSupplier nanos;
    private final long began;
    private long left;

    /** @param nanos the time */
    LimitedStream(InputStream in, long limit, LongSupplier nanos) {
        super(in);
        this.limit = limit;
        this.nanos = nanos;
        this.began = nanos.getAsLong();
        this.left = limit;
    }

    static Problem tooLong(long limit) {
        return new Problem(
                HttpStatus.PAYLOAD_TOO_LARGE_413,
                "the body is longer than " + limit
                        + " bytes: send less at once, or lines of JSON as application/x-ndjson");
    }

    @Override
    public int read() throws IOException {
        int next = super.read();
        count(next < 0 ? 0 : 1);
        return next;
    }

    @Override
    public int read(byte[] bytes, int from, int length) throws IOException {
        int read = super.read(bytes, from, length);
        count(Math.max(0, read));
        return read;
    }

    @Override
    public long skip(long count) throws IOException {
        long skipped = super.skip(count);
        count(skipped);
        return skipped;
    }

    private void count(long read) {
        left -= read;
        if (left < 0) {
            throw tooLong(limit);
        }
        if (nanos.getAsLong() - began > LONGEST.toNanos()) {
            throw new Problem(
                    HttpStatus.REQUEST_TIMEOUT_408, "the body did not come within " + LONGEST.toSeconds() + " s");
        }
    }

    /** It is not its own: a refusal reads what is left of it, and the server would take it for a failure. */
    @Override
    public void close() {}
}
