package dev.trunkline.benchmarks;

import dev.trunkline.Message;
import dev.trunkline.benchmarks.peer.Letter;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;

/** What is published, by Trunkline and by the baselines alike: 200 bytes, one of 10,000 keys. */
final class Samples {

    static final String CONTENT_TYPE = "application/octet-stream";
    static final int PARTITIONS = 16;

    static final int KEYS = 10_000;

    private static final int PAYLOAD_BYTES = 200;
    private static final byte[][] PAYLOADS = payloads(64);

    private Samples() {}

    static String key() {
        return key(ThreadLocalRandom.current().nextInt(KEYS));
    }

    static String key(int number) {
        return "key-" + number;
    }

    static byte[] payload() {
        return PAYLOADS[ThreadLocalRandom.current().nextInt(PAYLOADS.length)];
    }

    static int partition() {
        return ThreadLocalRandom.current().nextInt(PARTITIONS);
    }

    static Message keyed() {
        return unkeyed().withKey(key());
    }

    static Message unkeyed() {
        return Message.of(Installation.TOPIC, payload());
    }

    static List<Message> keyed(int count) {
        List<Message> messages = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            messages.add(keyed());
        }
        return messages;
    }

    static List<Letter> letters(int count) {
        return Stream.generate(() -> new Letter(key(), payload())).limit(count).toList();
    }

    static List<Letter> letters(byte[] payload, int count) {
        return Stream.generate(() -> new Letter(key(), payload)).limit(count).toList();
    }

    /** One whose payload begins with the time at which it should be sent. */
    static Message stamped(long nanoTime) {
        byte[] payload = payload().clone();
        ByteBuffer.wrap(payload).putLong(nanoTime);
        return Message.of(Installation.TOPIC, payload).withKey(key());
    }

    static List<Message> stamped(long nanoTime, int count) {
        return Stream.generate(() -> stamped(nanoTime)).limit(count).toList();
    }

    static List<Message> unkeyed(int count) {
        List<Message> messages = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            messages.add(unkeyed());
        }
        return messages;
    }

    private static byte[][] payloads(int count) {
        Random random = new Random(42);
        byte[][] payloads = new byte[count][PAYLOAD_BYTES];
        for (byte[] payload : payloads) {
            random.nextBytes(payload);
        }
        return payloads;
    }
}
