package dev.trunkline.server.demo;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * What is published.
 *
 * @param number counts the orders of one writer
 * @param customer its key
 */
record Order(Way way, int writer, long number, String customer, int cents, int delayMillis) {

    static final Duration SHORTEST_DELAY = Duration.ofMillis(50);
    static final Duration LONGEST_DELAY = Duration.ofMillis(500);
    private static final int CUSTOMERS = 100;

    /** What makes an order this one: its writer and its number. */
    record Id(int writer, long number) {
        @Override
        public String toString() {
            return "order " + number + " of writer " + writer;
        }
    }

    static Order random(Way way, int writer, long number) {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        return new Order(
                way,
                writer,
                number,
                "customer-" + random.nextInt(CUSTOMERS),
                random.nextInt(100, 100_000),
                way == Way.DELAYED ? (int) random.nextLong(SHORTEST_DELAY.toMillis(), LONGEST_DELAY.toMillis()) : 0);
    }

    Id id() {
        return new Id(writer, number);
    }
}
