package dev.trunkline.benchmarks;

import dev.trunkline.Delivery;
import dev.trunkline.Message;
import dev.trunkline.SubscriptionOptions;
import java.util.ArrayList;
import java.util.List;

/**
 * One slow key among 10,000: what the other keys lose. Handlers sleep, and are so few and so slow that they, and not the machine,
 * bound the rate; the slow key has as many messages as any other, which is enough to keep one handler busy all the time.
 */
final class OrderedParallel implements Scenario {

    private static final int CONCURRENCY = 128;
    private static final int HANDLER_MILLIS = 8;
    private static final int TIMES_SLOWER = 100;
    private static final int BATCH = 1_000;
    private static final String SLOW_KEY = Samples.key(0);
    private static final String EVEN = "even";
    private static final String ONE_SLOW = "one-slow";

    private int turn;

    @Override
    public String name() {
        return "ordered-parallel";
    }

    @Override
    public String summary() {
        return "10,000 keys of which one takes 100 times as long: the rate of the others, against none being slow";
    }

    @Override
    public List<Result> run(Workbench bench) throws Exception {
        double bound = CONCURRENCY * 1e3 / HANDLER_MILLIS;
        int perKey = (int) Math.max(1, Math.round(bound * bench.effort().seconds() / Samples.KEYS));
        try (Installation installation = bench.install("ordered", true)) {
            publish(installation, perKey);
            return List.of(new Contest(bench, name())
                    .with(EVEN, seconds -> rateOfOthers(installation, perKey, 1))
                    .with(ONE_SLOW, seconds -> rateOfOthers(installation, perKey, TIMES_SLOWER))
                    .run()
                    .compare(
                            name(),
                            "messages/s of the other keys",
                            ONE_SLOW,
                            EVEN,
                            "the same without a slow key: %d handlers of %d ms".formatted(CONCURRENCY, HANDLER_MILLIS),
                            Target.atLeast(0.90))
                    .with("messages", perKey * Samples.KEYS)
                    .with("messagesOfTheSlowKey", perKey)
                    .with("boundByHandlers", bound));
        }
    }

    private static void publish(Installation installation, int perKey) {
        for (int i = 0; i < perKey * Samples.KEYS; i += BATCH) {
            List<Message> batch = new ArrayList<>(BATCH);
            for (int k = i; k < i + BATCH; k++) {
                batch.add(Samples.unkeyed().withKey(Samples.key(k % Samples.KEYS)));
            }
            installation.publisher().publishAll(batch);
        }
    }

    private double rateOfOthers(Installation installation, int perKey, int times) throws InterruptedException {
        long others = (long) perKey * (Samples.KEYS - 1);
        Tally done = new Tally("handled of the other keys");
        try (CountedGroup group = new CountedGroup(
                installation.trunkline(), "ordered-" + turn++, delivery -> handle(delivery, times, done))) {
            long began = System.nanoTime();
            group.start(SubscriptionOptions.fromBeginning().withConcurrency(CONCURRENCY));
            done.await(others);
            long nanos = System.nanoTime() - began;
            group.await(others + perKey);
            group.closeAt(others + perKey);
            done.require(others);
            return others * 1e9 / nanos;
        }
    }

    private static void handle(Delivery<byte[]> delivery, int times, Tally done) throws InterruptedException {
        if (SLOW_KEY.equals(delivery.key())) {
            Thread.sleep((long) HANDLER_MILLIS * times);
        } else {
            Thread.sleep(HANDLER_MILLIS);
            done.add();
        }
    }
}
