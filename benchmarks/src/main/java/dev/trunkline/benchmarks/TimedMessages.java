package dev.trunkline.benchmarks;

import dev.trunkline.Publisher;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.Trunkline;
import java.nio.ByteBuffer;
import org.HdrHistogram.Histogram;

/** Messages that say when they should have been sent, and how long after that their handler began. */
final class TimedMessages implements AutoCloseable {

    private final Publisher publisher;
    private final CountedGroup group;
    private volatile Histogram latencies = Pace.latencies();
    private long published;

    TimedMessages(Trunkline from, Trunkline to) {
        this.publisher = from.publisher();
        this.group = new CountedGroup(
                        to,
                        "timed",
                        delivery -> Pace.record(
                                latencies, ByteBuffer.wrap(delivery.payload()).getLong()))
                .start(SubscriptionOptions.fromNow());
    }

    /** Publishes them one by one, for so long. Returns the latencies once all were handled. */
    Histogram singly(Pace pace, double seconds) throws InterruptedException {
        return send(pace, seconds, due -> {
            publisher.publish(Samples.stamped(due));
            return 1;
        });
    }

    /** Publishes them in batches. */
    Histogram inBatches(int batch, Pace pace, double seconds) throws InterruptedException {
        return send(
                pace,
                seconds,
                due -> publisher.publishAll(Samples.stamped(due, batch)).size());
    }

    private Histogram send(Pace pace, double seconds, Pace.Act act) throws InterruptedException {
        latencies = Pace.latencies();
        published += pace.keep(seconds, act);
        group.await(published);
        return latencies;
    }

    /** Fails unless every message was handled once. */
    @Override
    public void close() {
        group.closeAt(published);
    }
}
