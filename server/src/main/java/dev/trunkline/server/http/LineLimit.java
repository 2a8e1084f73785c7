package dev.trunkline.server.http;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.function.LongConsumer;

/**
 * A stream of values, of which none may be longer than a limit; it may be endless. One that is long has its place in memory before it is read on, and is to come as
 * soon as a body is.
 */
final class LineLimit extends FilterInputStream {

    /** A parser reads ahead so far at most. */
    private static final int AHEAD = 64 * 1024;

    private final long limit;
    private final Duration patience;
    private final LongConsumer onLong;
    private long count;
    private long began;
    private boolean isLong;
    private long longSince;

    /**
     * The lines of a body.
     *
     * @param patience in which a long line is to come to its end
     * @param onLong told how many bytes a line may come to that is longer than a parser reads ahead
     */
    LineLimit(InputStream in, long limit, Duration patience, LongConsumer onLong) {
        super(in);
        this.limit = limit;
        this.patience = patience;
        this.onLong = onLong;
    }

    /** The next value begins, as far as it was read. */
    void begin() {
        began = count;
        isLong = false;
    }

    /** How many bytes were read. */
    long count() {
        return count;
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] bytes, int from, int length) throws IOException {
        int read = super.read(bytes, from, Math.min(length, AHEAD));
        count += Math.max(0, read);
        if (count - began > limit + 2L * AHEAD) {
            throw new Problem(413, "a line is longer than " + limit + " bytes");
        }
        if (count - began > 2L * AHEAD) {
            requireSoon();
        }
        return read;
    }

    private void requireSoon() {
        if (!isLong) {
            isLong = true;
            longSince = System.nanoTime();
            onLong.accept(limit);
        } else if (System.nanoTime() - longSince > patience.toNanos()) {
            throw new Problem(408, "a line did not come within " + patience.toSeconds() + " s");
        }
    }

    /** It is not its own: a refusal reads what is left of it, and the server would take it for a failure. */
    @Override
    public void close() {}
}
