package dev.trunkline.rig;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Takes what comes over a line apart into the messages of PostgreSQL's protocol, in whatever pieces it arrives: a letter, a length that counts
 * itself, and the rest. The first messages of a client have no letter.
 */
final class Frames {

    static final int CANCEL = 80_877_102;
    static final int ENCRYPTION = 80_877_103;
    static final int GSS_ENCRYPTION = 80_877_104;

    private static final int USUAL = 1 << 16;
    private static final int MOST = Integer.MAX_VALUE - 8;

    private final InputStream in;
    private final AtomicInteger answers = new AtomicInteger();
    private volatile boolean unknown;
    private boolean opening;
    private byte[] bytes = new byte[USUAL];
    private int from;
    private int to;

    private Frames(InputStream in, boolean opening) {
        this.in = in;
        this.opening = opening;
    }

    static Frames ofClient(InputStream in) {
        return new Frames(in, true);
    }

    static Frames ofServer(InputStream in) {
        return new Frames(in, false);
    }

    /** The next message, with its letter and length. Fails at the end, also in the middle of one. */
    byte[] next() throws IOException {
        while (!hasNext()) {
            fill();
        }
        byte[] frame = Arrays.copyOfRange(bytes, from, from + length());
        from += frame.length;
        if (!unknown && answers.get() > 0) {
            answers.decrementAndGet();
        } else if (opening) {
            opening = isAboutEncryption(frame);
        }
        return frame;
    }

    /** Whether all of it is here, so that it takes no time to get it. */
    boolean hasNext() throws IOException {
        return to > from && length() <= to - from;
    }

    /** The server is asked about encryption, and answers with one byte. */
    void expectAnswer() {
        answers.incrementAndGet();
    }

    /** From now on nobody knows what is said: whatever comes is a message. */
    void expectAnything() {
        unknown = true;
    }

    /** What the first message of a client asks for. */
    static int code(byte[] opening) {
        return opening.length < 8 ? 0 : ByteBuffer.wrap(opening).getInt(4);
    }

    static boolean isAboutEncryption(byte[] opening) {
        return code(opening) == ENCRYPTION || code(opening) == GSS_ENCRYPTION;
    }

    /** Of the next message, as far as that can be said: at least more than there is. */
    private int length() throws IOException {
        if (unknown) {
            return to - from;
        }
        if (answers.get() > 0) {
            return 1;
        }
        int letter = opening ? 0 : 1;
        if (to - from < letter + 4) {
            return letter + 4;
        }
        int length = ByteBuffer.wrap(bytes).getInt(from + letter);
        if (length < 4 || length >= MOST) {
            throw new IOException("this is not PostgreSQL's protocol: a message of length " + length);
        }
        return letter + length;
    }

    private void fill() throws IOException {
        if (from > 0) {
            System.arraycopy(bytes, from, bytes, 0, to - from);
            to -= from;
            from = 0;
        }
        if (to == bytes.length) {
            bytes = Arrays.copyOf(bytes, (int) Math.min(MOST, 2L * bytes.length));
        } else if (to == 0 && bytes.length > USUAL) {
            bytes = new byte[USUAL];
        }
        int n = in.read(bytes, to, bytes.length - to);
        if (n < 0) {
            throw new EOFException();
        }
        to += n;
    }
}
