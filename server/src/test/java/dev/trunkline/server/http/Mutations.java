package dev.trunkline.server.http;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;

/** Bytes with something changed. The same randomness makes the same of the same bytes. */
final class Mutations {

    /** What parsers trip over. */
    private static final List<byte[]> PIECES = List.of(
            utf8("null"),
            utf8("true"),
            utf8("{}"),
            utf8("[]"),
            utf8("{"),
            utf8("]"),
            utf8("\""),
            utf8("\\"),
            utf8(","),
            utf8(":"),
            utf8("-"),
            utf8("-0"),
            utf8("0.1"),
            utf8("1e999999999"),
            utf8("9223372036854775808"),
            utf8("2147483648"),
            utf8("9".repeat(400)),
            utf8("0".repeat(1_200)),
            utf8("\\u0000"),
            utf8("\\ud800"),
            utf8("\\udc00x"),
            utf8("\u2028"),
            utf8("\ufeff"),
            utf8("\ud83e\udd84"),
            utf8("PT"),
            utf8("P1D"),
            utf8("-PT1S"),
            utf8("offset:9"),
            utf8("%00"),
            utf8("'"),
            utf8("\n"),
            utf8("\u0000"),
            utf8("[".repeat(1_500)),
            utf8("{\"a\":".repeat(600)),
            new byte[] {(byte) 0xff},
            new byte[] {(byte) 0xc0, (byte) 0x80},
            new byte[] {(byte) 0xed, (byte) 0xa0, (byte) 0x80},
            new byte[] {(byte) 0xf4, (byte) 0x90, (byte) 0x80, (byte) 0x80},
            new byte[] {(byte) 0xe2, (byte) 0x82});

    private Mutations() {}

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** One change; with a piece of the other, perhaps. */
    static byte[] change(byte[] bytes, byte[] other, RandomGenerator random) {
        int from = random.nextInt(bytes.length + 1);
        int to = Math.min(bytes.length, from + 1 + random.nextInt(1 + random.nextInt(24)));
        byte[] range = Arrays.copyOfRange(bytes, from, to);
        return switch (random.nextInt(12)) {
            case 0 -> flip(bytes, random);
            case 1 -> put(bytes, from, Math.min(bytes.length, from + 1), new byte[] {(byte) random.nextInt(256)});
            case 2 -> put(bytes, from, from, new byte[] {(byte) random.nextInt(256)});
            case 3 -> put(bytes, from, to, new byte[0]);
            case 4 -> put(bytes, to, to, range);
            case 5 -> put(bytes, to, to, repeated(range, 1 + random.nextInt(200)));
            case 6 -> Arrays.copyOf(bytes, from);
            case 7 -> put(bytes, from, bytes.length, tail(other, random));
            case 8 -> put(bytes, from, from, tail(other, random));
            case 9 -> number(bytes, random);
            case 10 -> put(bytes, from, to, piece(random));
            default -> put(bytes, from, from, piece(random));
        };
    }

    static byte[] piece(RandomGenerator random) {
        return PIECES.get(random.nextInt(PIECES.size()));
    }

    static byte[] put(byte[] bytes, int from, int to, byte[] piece) {
        byte[] changed = Arrays.copyOf(bytes, bytes.length - (to - from) + piece.length);
        System.arraycopy(piece, 0, changed, from, piece.length);
        System.arraycopy(bytes, to, changed, from + piece.length, bytes.length - to);
        return changed;
    }

    private static byte[] flip(byte[] bytes, RandomGenerator random) {
        byte[] changed = bytes.clone();
        if (changed.length > 0) {
            changed[random.nextInt(changed.length)] ^= (byte) (1 << random.nextInt(8));
        }
        return changed;
    }

    private static byte[] repeated(byte[] range, int times) {
        byte[] all = new byte[range.length * times];
        for (int i = 0; i < times; i++) {
            System.arraycopy(range, 0, all, i * range.length, range.length);
        }
        return all;
    }

    private static byte[] tail(byte[] other, RandomGenerator random) {
        return Arrays.copyOfRange(other, random.nextInt(other.length + 1), other.length);
    }

    /** Another number where there is one. */
    private static byte[] number(byte[] bytes, RandomGenerator random) {
        int start = random.nextInt(bytes.length + 1);
        for (int i = 0; i < bytes.length; i++) {
            int at = (start + i) % bytes.length;
            if (bytes[at] >= '0' && bytes[at] <= '9') {
                long number = random.nextBoolean() ? random.nextLong() : random.nextInt(-3, 2_000);
                return put(bytes, at, at + 1, utf8(Long.toString(number)));
            }
        }
        return bytes;
    }
}
