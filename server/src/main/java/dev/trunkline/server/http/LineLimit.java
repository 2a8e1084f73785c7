package dev.trunkline.server.http;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/** A stream of values, of which none may be longer than a limit; it may be endless. */
final class LineLimit extends FilterInputStream {

    /** A parser reads ahead so far at most. */
    private static final int AHEAD = 64 * 1024;

    private final long limit;
    private long count;
    private long began;

    LineLimit(InputStream in, long limit) {
        super(in);
        this.limit = limit;
    }

    /** The next value begins, as far as it was read. */
    void begin() {
        began = count;
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
        return read;
    }

    /** It is not its own: a refusal reads what is left of it, and the server would take it for a failure. */
    @Override
    public void close() {}
}
