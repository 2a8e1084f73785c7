package dev.trunkline.server.http;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import org.eclipse.jetty.http.HttpStatus;

/** A body that is refused as soon as it is longer than allowed: nothing of what comes after that is read. */
final class LimitedStream extends FilterInputStream {

    private final long limit;
    private long left;

    LimitedStream(InputStream in, long limit) {
        super(in);
        this.limit = limit;
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
    }
}
