package dev.trunkline.benchmarks;

import dev.trunkline.ConsumerGroup;
import dev.trunkline.ConsumerGroupAdmin.CatchUp;
import dev.trunkline.ConsumerGroupAdmin.CatchUpState;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.Trunkline;
import java.util.ArrayList;
import java.util.List;

/** A new group that works off the history of the topic, and how far it was as time went by. */
final class CatchingUp implements AutoCloseable {

    private static final Pace LOOKS = new Pace(1, 4);

    private final Trunkline trunkline;
    private final ConsumerGroup<byte[]> group;
    private final long began;
    private final List<Look> looks = new ArrayList<>();

    /** How much was done at a second since the beginning. */
    private record Look(double second, CatchUp catchUp) {
        double rate(Look before) {
            return second == before.second ? 0 : (catchUp.done() - before.catchUp.done()) / (second - before.second);
        }
    }

    CatchingUp(Trunkline trunkline, String name, SubscriptionOptions options, long began) {
        this.trunkline = trunkline;
        this.began = began;
        this.group = trunkline
                .createConsumerGroup(name, Installation.TOPIC, byte[].class)
                .addConsumer("reader", delivery -> {})
                .start(options);
    }

    /** Looks for so long, and at the end. */
    void watch(double seconds) {
        LOOKS.keep(began, seconds, due -> {
            look();
            return 1;
        });
        Pace.sleepUntil(began + (long) (seconds * 1e9));
        look();
    }

    private void look() {
        CatchUp catchUp =
                trunkline.admin().catchUp(group.name(), Installation.TOPIC).orElseThrow();
        looks.add(new Look((System.nanoTime() - began) / 1e9, catchUp));
    }

    /** Whether there is something left of its history. */
    boolean isRunning() {
        return looks.getLast().catchUp().state() == CatchUpState.RUNNING;
    }

    /** Messages a second, from one second to another. */
    double rate(double from, double to) {
        return last(to).rate(last(from));
    }

    /** The last look at that second. */
    private Look last(double second) {
        return looks.reversed().stream()
                .filter(look -> look.second() <= second)
                .findFirst()
                .orElse(looks.getFirst());
    }

    /** Messages a second, second by second: progress is recorded no more often than that while there is little. */
    List<Long> curve() {
        List<Long> curve = new ArrayList<>();
        for (int second = 1; second <= looks.getLast().second(); second++) {
            curve.add(Math.round(rate(second - 1, second)));
        }
        return curve;
    }

    @Override
    public void close() {
        group.cancel();
        group.close();
    }
}
