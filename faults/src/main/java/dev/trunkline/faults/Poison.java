package dev.trunkline.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A message that the handler of a group does not survive.
 *
 * @param number no other one has it
 * @param kind what it does
 * @param group whose handler it is poison for; the other one takes it
 */
record Poison(int number, Kind kind, String group) {

    /** For how long handlers may run where there is poison. */
    static final Duration TIMEOUT = Duration.ofSeconds(2);

    private static final String PREFIX = "poison-";

    /** What poison does. */
    enum Kind {
        THROW("it is poison"),
        /** Waits until it is interrupted. */
        WAIT("Interrupted"),
        /** Does not care that it is interrupted, and comes back much later. */
        HANG("did not return"),
        OVERFLOW("StackOverflowError"),
        /** Takes all memory: who operates a JVM lets it end then, since nobody knows what is left of it. */
        HOARD("processes died"),
        EXIT("processes died"),
        HALT("processes died"),
        /** No handler ever gets it, of no group. */
        UNDECODABLE("is no dev.trunkline.faults.Value");

        private final String error;

        Kind(String error) {
            this.error = error;
        }

        /** What is in the error of its dead letter. */
        String error() {
            return error;
        }

        boolean kills() {
            return this == HOARD || this == EXIT || this == HALT;
        }
    }

    static Poison choose(int number, Kind kind, Random random) {
        return new Poison(number, kind, random.nextBoolean() ? Workload.PLAIN : Workload.EFFECTS);
    }

    /** The poison of a value. */
    static Optional<Poison> find(String value) {
        if (!value.startsWith(PREFIX)) {
            return Optional.empty();
        }
        String[] parts = value.substring(PREFIX.length()).split("\\.", 3);
        Kind kind = Kind.valueOf(parts[1].toUpperCase(Locale.ROOT));
        return Optional.of(new Poison(Integer.parseInt(parts[0]), kind, parts[2]));
    }

    /** Its message's key, which no other poison has. */
    String key() {
        return PREFIX + number;
    }

    String value() {
        String value = PREFIX + number + "." + kind.name().toLowerCase(Locale.ROOT) + "." + group;
        return kind == Kind.UNDECODABLE ? value + "?" : value;
    }

    /** The groups that give it up. */
    List<String> victims() {
        return kind == Kind.UNDECODABLE ? List.of(Workload.PLAIN, Workload.EFFECTS) : List.of(group);
    }

    /** In a handler: does what it does. */
    void act() throws Exception {
        switch (kind) {
            case WAIT -> Thread.sleep(TIMEOUT.multipliedBy(10));
            case HANG -> hang(System.nanoTime() + TIMEOUT.multipliedBy(3).toNanos());
            case OVERFLOW -> overflow(0);
            case HOARD -> hoard();
            case EXIT -> {
                linger();
                System.exit(4);
            }
            case HALT -> {
                linger();
                Runtime.getRuntime().halt(5);
            }
            case THROW, UNDECODABLE -> {}
        }
        throw new IllegalStateException("it is poison");
    }

    private static void hang(long until) {
        while (System.nanoTime() - until < 0) {
            LockSupport.parkNanos(until - System.nanoTime());
            Thread.interrupted();
        }
    }

    @SuppressWarnings("InfiniteRecursion") // that is the point
    private static long overflow(long depth) {
        return 1 + overflow(depth + 1);
    }

    private static void hoard() throws InterruptedException {
        Crowd.awaitStarted();
        List<byte[]> hoard = new ArrayList<>();
        while (hoard.size() < Integer.MAX_VALUE) {
            hoard.add(new byte[1024 * 1024]);
        }
    }

    /** Partitions may move meanwhile. A process whose start nobody has seen does not die: nobody would count it. */
    private void linger() throws InterruptedException {
        Crowd.awaitStarted();
        TimeUnit.MILLISECONDS.sleep(new Random(number).nextInt(1_500));
    }
}
