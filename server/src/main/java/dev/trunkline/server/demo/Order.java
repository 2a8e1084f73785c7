package dev.trunkline.server.demo;

import dev.trunkline.Message;
import java.util.concurrent.ThreadLocalRandom;

/**
 * What is published. A customer belongs to one writer, which so knows the sequence of the customer's orders. Every second order
 * is published in a transaction, the others on their own: the sequence runs through both.
 *
 * @param number counts the orders of one writer
 * @param customer its key
 */
record Order(int writer, long number, String customer, int cents) {

    static final String TOPIC = "orders.events";
    /** Has one customer only, whose seventh order is poison. */
    static final int UNLUCKY_WRITER = 0;

    static Order next(int writer, long number) {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        String customer = writer == UNLUCKY_WRITER ? "unlucky" : "customer-" + writer + "-" + random.nextInt(25);
        return new Order(writer, number, customer, random.nextInt(100, 100_000));
    }

    boolean inTransaction() {
        return number % 2 == 0;
    }

    /** Every fifth transaction is. */
    boolean rolledBack() {
        return number % 10 == 0;
    }

    /** One group's handler can not take it. */
    boolean poisonous() {
        return writer == UNLUCKY_WRITER && number == 7;
    }

    Message message() {
        return Message.of(TOPIC, this).withKey(customer);
    }

    @Override
    public String toString() {
        return "order " + number + " of writer " + writer + " for " + customer;
    }
}
