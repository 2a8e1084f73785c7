package dev.trunkline.server.demo;

import dev.trunkline.server.demo.Sent.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;

/** Publishes one order after the other until told to stop, and notes what became of each. */
final class Writer implements Callable<List<Sent>> {

    private final Way way;
    private final int number;
    private final Publishing publishing;
    private final Tally tally;
    private final CountDownLatch stop;

    Writer(Way way, int number, Publishing publishing, Tally tally, CountDownLatch stop) {
        this.way = way;
        this.number = number;
        this.publishing = publishing;
        this.tally = tally;
        this.stop = stop;
    }

    @Override
    public List<Sent> call() {
        List<Sent> sent = new ArrayList<>();
        try (publishing) {
            while (stop.getCount() > 0) {
                sent.add(publish(Order.random(way, number, sent.size() + 1L)));
            }
            return sent;
        } finally {
            stop.countDown(); // a writer that failed ends the demo
        }
    }

    private Sent publish(Order order) {
        long began = tally.now();
        Outcome outcome = publishing.publish(order);
        long ended = tally.now();
        if (outcome == Outcome.COMMITTED) {
            tally.published.increment();
        }
        return new Sent(order, outcome, began, ended);
    }
}
