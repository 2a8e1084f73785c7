package dev.trunkline.publish;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * The hash that picks the partition of a key, the same as {@code trunkline.partition_of}: PostgreSQL's extended hash of a text,
 * which is Bob Jenkins' lookup3. It decides where a key's messages lie, so it can never change.
 */
final class KeyHash {

    private static final int START = 0x9e3779b9 + 3923095;
    private static final int WORDS = 12;

    private KeyHash() {}

    static int partitionOf(String key, int partitions) {
        return (int) ((hash(key.getBytes(StandardCharsets.UTF_8)) & Long.MAX_VALUE) % partitions);
    }

    private static long hash(byte[] key) {
        // The last words are filled up with zeros; in the third, the lowest byte is left out.
        ByteBuffer words = ByteBuffer.wrap(key).order(ByteOrder.LITTLE_ENDIAN);
        int a = START + key.length;
        int b = a;
        int c = a;
        while (words.remaining() >= WORDS) {
            a += words.getInt();
            b += words.getInt();
            c += words.getInt();
            a = (a - c) ^ Integer.rotateLeft(c, 4);
            c += b;
            b = (b - a) ^ Integer.rotateLeft(a, 6);
            a += c;
            c = (c - b) ^ Integer.rotateLeft(b, 8);
            b += a;
            a = (a - c) ^ Integer.rotateLeft(c, 16);
            c += b;
            b = (b - a) ^ Integer.rotateLeft(a, 19);
            a += c;
            c = (c - b) ^ Integer.rotateLeft(b, 4);
            b += a;
        }
        a += word(words);
        b += word(words);
        c += word(words) << Byte.SIZE;
        c = (c ^ b) - Integer.rotateLeft(b, 14);
        a = (a ^ c) - Integer.rotateLeft(c, 11);
        b = (b ^ a) - Integer.rotateLeft(a, 25);
        c = (c ^ b) - Integer.rotateLeft(b, 16);
        a = (a ^ c) - Integer.rotateLeft(c, 4);
        b = (b ^ a) - Integer.rotateLeft(a, 14);
        c = (c ^ b) - Integer.rotateLeft(b, 24);
        return ((long) b << Integer.SIZE) | Integer.toUnsignedLong(c);
    }

    private static int word(ByteBuffer words) {
        int word = 0;
        for (int shift = 0; shift < Integer.SIZE && words.hasRemaining(); shift += Byte.SIZE) {
            word |= Byte.toUnsignedInt(words.get()) << shift;
        }
        return word;
    }
}
