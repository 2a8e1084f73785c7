package dev.trunkline.benchmarks;

import dev.trunkline.Publisher;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.benchmarks.database.Address;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** The program of a {@link SmallJvm}. */
final class SmallJvmMain {

    static final String SCHEMA = "TRUNKLINE_BENCH_SCHEMA";
    static final String TASK = "TRUNKLINE_BENCH_TASK";
    static final String MESSAGES = "TRUNKLINE_BENCH_MESSAGES";
    static final String GROUP = "small";

    private static final int BATCH = 1_000;

    private SmallJvmMain() {}

    public static void main(String[] arguments) throws Exception {
        Address address = Address.fromEnvironment();
        int messages = Integer.parseInt(System.getenv(MESSAGES));
        try (Installation installation = new Installation(address, System.getenv(SCHEMA), true)) {
            switch (SmallJvm.Task.valueOf(System.getenv(TASK))) {
                case PUBLISH -> publish(installation.publisher(), messages);
                case DRAIN -> drain(installation, messages);
            }
        }
        System.out.println("peak heap " + MemoryUse.peak() / (1024 * 1024) + " MB");
    }

    /** Half of the messages go one by one, half in batches. */
    private static void publish(Publisher publisher, int messages) throws Exception {
        int async = messages / 2;
        publishOneByOne(publisher, async);
        publishInBatches(publisher, messages - async);
    }

    private static void publishOneByOne(Publisher publisher, int messages) throws Exception {
        CountDownLatch open = new CountDownLatch(messages);
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        for (int i = 0; i < messages; i++) {
            var unused = publisher.publishAsync(Samples.keyed()).whenComplete((receipt, problem) -> {
                if (problem != null) {
                    failure.compareAndSet(null, problem);
                }
                open.countDown();
            });
        }
        open.await();
        if (failure.get() != null) {
            throw new IllegalStateException("a message was not published: " + failure.get(), failure.get());
        }
    }

    private static void publishInBatches(Publisher publisher, int messages) {
        for (int left = messages; left > 0; left -= BATCH) {
            publisher.publishAll(Samples.keyed(Math.min(BATCH, left)));
        }
    }

    /** Fails unless a new group handles each message of the topic once. */
    private static void drain(Installation installation, int messages) throws InterruptedException {
        Distinct distinct = new Distinct();
        try (CountedGroup group =
                new CountedGroup(installation.trunkline(), GROUP, delivery -> distinct.add(delivery.message()))) {
            group.start(SubscriptionOptions.fromBeginning()).await(messages);
            group.closeAt(messages);
        }
        Tally.require("handled, not counting any twice,", messages, distinct.count());
    }
}
