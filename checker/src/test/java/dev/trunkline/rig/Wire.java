package dev.trunkline.rig;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Messages of PostgreSQL's protocol. */
final class Wire {

    private Wire() {}

    /** A message of texts, each with a zero at its end. */
    static byte[] frame(char letter, String... texts) {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        for (String text : texts) {
            body.writeBytes(text.getBytes(StandardCharsets.UTF_8));
            body.write(0);
        }
        return ByteBuffer.allocate(5 + body.size())
                .put((byte) letter)
                .putInt(4 + body.size())
                .put(body.toByteArray())
                .array();
    }

    static byte[] query(String sql) {
        return frame('Q', sql);
    }

    static byte[] ready(char state) {
        return new byte[] {'Z', 0, 0, 0, 5, (byte) state};
    }

    static byte[] opening(int code) {
        return ByteBuffer.allocate(8).putInt(8).putInt(code).array();
    }

    static byte[] startup() {
        return opening(196_608);
    }

    static byte[] join(List<byte[]> frames) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        frames.forEach(all::writeBytes);
        return all.toByteArray();
    }
}
