package dev.trunkline.server.http;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.CharacterCodingException;

/** Bytes that are UTF-8. Others are refused: the parser, which reads bytes since that is twice as fast, would make something of some of them. */
final class Utf8 extends FilterInputStream {

    /** How many bytes of a character are still to come, and what the next one may be. */
    private int missing;

    private int least = 0x80;
    private int most = 0xbf;

    Utf8(InputStream bytes) {
        super(bytes);
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] bytes, int from, int length) throws IOException {
        int read = super.read(bytes, from, length);
        if (read < 0 && missing > 0) {
            throw new CharacterCodingException();
        }
        for (int i = from; i < from + read; i++) {
            if (bytes[i] < 0 || missing > 0) {
                take(bytes[i] & 0xff);
            }
        }
        return read;
    }

    private void take(int next) throws CharacterCodingException {
        if (missing > 0) {
            if (next < least || next > most) {
                throw new CharacterCodingException();
            }
            missing--;
            least = 0x80;
            most = 0xbf;
        } else if (next < 0xc2 || next > 0xf4) {
            throw new CharacterCodingException();
        } else {
            missing = next < 0xe0 ? 1 : next < 0xf0 ? 2 : 3;
            // Neither what fits into fewer bytes, nor halves of characters, nor what lies beyond the last.
            least = next == 0xe0 ? 0xa0 : next == 0xf0 ? 0x90 : 0x80;
            most = next == 0xed ? 0x9f : next == 0xf4 ? 0x8f : 0xbf;
        }
    }
}
