package dev.trunkline.benchmarks;

import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicConfiguration;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAccumulator;

/** Messages are published, consumed and dropped at a steady pace: what the log takes late in the run, against early in it. */
final class Retention implements Scenario {

    private static final String INSTALLATION = "retention";
    private static final Pace PUBLISHING = new Pace(2, 50);
    private static final int BATCH = 100;
    private static final Pace UPKEEP = new Pace(1, 20);
    private static final Duration KEPT = Duration.ofSeconds(1);
    private static final long SEGMENT_BYTES = 512 * 1024;
    /** Long enough for the first segments to be dropped. */
    private static final double WARM_UP = 3;

    @Override
    public String name() {
        return "retention";
    }

    @Override
    public String summary() {
        return "the bytes of the log in the second half of steady publishing, consuming and dropping, against the first; and dead rows";
    }

    @Override
    public List<Result> run(Workbench bench) throws Exception {
        double seconds = bench.effort().amounts().retentionSeconds();
        try (Writes writes = new Writes(bench, INSTALLATION);
                SegmentStorage storage = new SegmentStorage(bench, INSTALLATION)) {
            Result bytes;
            try (Installation installation = bench.install(INSTALLATION, true)) {
                installation.configure(TopicConfiguration.pubSub(Installation.TOPIC)
                        .withRetention(KEPT)
                        .withSegments(SEGMENT_BYTES, Duration.ofDays(1)));
                bytes = bytes(bench, new Traffic(installation, storage), seconds);
            }
            writes.awaitClosed();
            storage.look();
            return List.of(bytes, vacuum(storage));
        }
    }

    private Result bytes(Workbench bench, Traffic traffic, double seconds) throws Exception {
        bench.progress(name() + ": warming up");
        traffic.peak(WARM_UP);
        int droppedBefore = traffic.storage.dropped();
        bench.progress("%s: first half of %.0f seconds".formatted(name(), seconds));
        double first = traffic.peak(seconds / 2);
        bench.progress("%s: second half of %.0f seconds".formatted(name(), seconds));
        double second = traffic.peak(seconds / 2);
        int dropped = traffic.storage.dropped() - droppedBefore;
        boolean exact = traffic.end();
        return Result.of(
                        name(),
                        "bytes of all segments with their indexes, at their most",
                        new double[] {second},
                        "the first half of the same run, after a warm-up",
                        new double[] {first},
                        new double[] {second / first},
                        Target.atMost(1.5, "second half / first half"))
                .requiring("countIsExact", exact)
                .requiring("segmentsWereDropped", dropped > 0)
                .with("segmentsDropped", dropped)
                .with("messagesHandledOnce", traffic.published)
                .with("messagesPerSecond", PUBLISHING.perSecond() * BATCH)
                .with("seconds", seconds)
                .with("retentionMillis", KEPT.toMillis())
                .with("segmentBytes", SEGMENT_BYTES);
    }

    private Result vacuum(SegmentStorage storage) throws Exception {
        double live = storage.live();
        double all = live + storage.dead();
        return Result.of(
                        name() + "-vacuum",
                        "rows of the last segments that are alive",
                        new double[] {live},
                        "the same with the most dead rows that were seen during the run",
                        new double[] {all},
                        new double[] {live / all},
                        new Target("0 dead rows", ratio -> storage.dead() == 0))
                .with("deadTuples", storage.dead())
                .with("vacuums", storage.vacuums())
                .with("autovacuums", storage.autovacuums());
    }

    /** Publishers, one group, and who looks after the topic. */
    private static final class Traffic {
        private final Installation installation;
        private final SegmentStorage storage;
        private final Distinct handled = new Distinct();
        private final CountedGroup group;
        private long published;

        Traffic(Installation installation, SegmentStorage storage) {
            this.installation = installation;
            this.storage = storage;
            this.group = new CountedGroup(
                            installation.trunkline(), "retained", delivery -> handled.add(delivery.message()))
                    .start(SubscriptionOptions.fromBeginning());
        }

        /** Goes on for so long, and returns the most bytes that the log took. */
        double peak(double seconds) throws Exception {
            long began = System.nanoTime();
            CompletableFuture<Long> publishing = CompletableFuture.supplyAsync(
                    () -> PUBLISHING.keep(
                            began,
                            seconds,
                            due -> installation
                                    .publisher()
                                    .publishAll(Samples.keyed(BATCH))
                                    .size()),
                    task -> Thread.ofPlatform().name("publishing").start(task));
            LongAccumulator most = new LongAccumulator(Math::max, 0);
            UPKEEP.keep(began, seconds, due -> {
                most.accumulate(storage.look());
                installation.trunkline().upkeepNow();
                return 1;
            });
            published += publishing.join();
            return most.get();
        }

        /** Waits until all is handled. Whether each message was, once. */
        boolean end() throws InterruptedException {
            group.await(published);
            group.closeAt(published);
            return handled.count() == published;
        }
    }
}
