package dev.trunkline.benchmarks;

import dev.trunkline.ConsumerGroupAdmin;
import dev.trunkline.ConsumerGroupAdmin.CatchUp;
import dev.trunkline.ConsumerGroupAdmin.CatchUpState;
import dev.trunkline.GroupStatus;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicConfiguration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.function.BooleanSupplier;
import java.util.function.ToDoubleFunction;
import org.HdrHistogram.Histogram;

/** The only process of one of three groups is killed, and comes back when its group is dead: what the other groups and the disk feel of it. */
final class KillAndResurrect implements Scenario {

    private static final String INSTALLATION = "resurrect";
    private static final Pace PUBLISHING = new Pace(2, 50);
    private static final int BATCH = 20;
    private static final Pace UPKEEP = new Pace(1, 5);
    private static final Duration KEPT = Duration.ofSeconds(1);
    private static final long SEGMENT_BYTES = 64 * 1024;
    /** Long enough for what only the dead group has not done to be dropped. */
    private static final double SETTLING = 2;

    @Override
    public String name() {
        return "kill-and-resurrect";
    }

    @Override
    public String summary() {
        return "publish to handler of two groups, and the bytes of the log, while a third is dead, and comes back; against while it is served";
    }

    /**
     * What was seen for a while.
     *
     * @param p95 from publish to handler in milliseconds, of a group that lives
     * @param bytes of the log, at their most
     */
    private record Seen(double p95, double bytes) {}

    /** One death, and what was seen before, meanwhile, and while it came back. */
    private record Round(Seen served, Seen dead, Seen back) {}

    @Override
    public List<Result> run(Workbench bench) throws Exception {
        try (Installation installation = bench.install(INSTALLATION, true);
                SegmentStorage storage = new SegmentStorage(bench, INSTALLATION)) {
            installation.configure(TopicConfiguration.pubSub(Installation.TOPIC)
                    .withRetention(KEPT)
                    .withSegments(SEGMENT_BYTES, Duration.ofDays(1)));
            try (GroupProcess mortal = new GroupProcess(bench.address(), installation.schema());
                    Scene scene = new Scene(installation, storage, mortal)) {
                bench.progress(name() + ": warming up");
                scene.revive(bench.effort().warmUp());
                List<Round> rounds = new ArrayList<>();
                for (int i = 1; i <= bench.effort().repetitions(); i++) {
                    bench.progress(
                            "%s: %d of %d".formatted(name(), i, bench.effort().repetitions()));
                    rounds.add(scene.round(bench.effort().seconds()));
                }
                return results(rounds, scene);
            }
        }
    }

    private List<Result> results(List<Round> rounds, Scene scene) throws InterruptedException {
        boolean exact = scene.end();
        String time = "ms, p95, publish to handler of a group that lives";
        String bytes = "bytes of all segments with their indexes, at their most";
        return List.of(
                result("dead", time, rounds, round -> round.dead.p95, round -> round.served.p95, 1.2)
                        .requiring("countIsExact", exact)
                        .requiring("gapsAreTold", scene.gaps() >= rounds.size())
                        .requiring("catchUpIsBounded", scene.mostCaughtUp <= GroupProcessMain.BOUND)
                        .with("messagesPerSecond", PUBLISHING.perSecond() * BATCH)
                        .with("mostCaughtUp", scene.mostCaughtUp),
                result("back", time, rounds, round -> round.back.p95, round -> round.served.p95, 2)
                        .with("withTheStartOfItsProcess", true),
                result("bytes", bytes, rounds, round -> round.dead.bytes, round -> round.served.bytes, 1.1));
    }

    private Result result(
            String when,
            String unit,
            List<Round> rounds,
            ToDoubleFunction<Round> value,
            ToDoubleFunction<Round> baseline,
            double most) {
        double[] values = rounds.stream().mapToDouble(value).toArray();
        double[] baselines = rounds.stream().mapToDouble(baseline).toArray();
        return Result.of(
                name() + "-" + when,
                unit,
                values,
                "the same before its process was killed",
                baselines,
                Numbers.ratios(values, baselines),
                Target.atMost(most, "afterwards / before"));
    }

    /** Messages at a steady rate, two groups that live, one that dies, and who looks after the topic. */
    private static final class Scene implements AutoCloseable {
        private static final double MOMENT = 0.5;
        private static final int PATIENCE = 240;

        private final Installation installation;
        private final SegmentStorage storage;
        private final GroupProcess mortal;
        private final ConsumerGroupAdmin admin;
        private final TimedMessages timed;
        private final CountedGroup other;
        private long mostCaughtUp;

        Scene(Installation installation, SegmentStorage storage, GroupProcess mortal) {
            this.installation = installation;
            this.storage = storage;
            this.mortal = mortal;
            this.admin = installation.trunkline().admin();
            this.timed = new TimedMessages(installation.trunkline(), installation.trunkline());
            this.other = new CountedGroup(installation.trunkline(), "other").start(SubscriptionOptions.fromBeginning());
        }

        Round round(double seconds) throws InterruptedException {
            Seen served = watch(seconds);
            mortal.kill();
            watchUntil(() -> is(GroupStatus.DEAD));
            watch(SETTLING);
            Seen dead = watch(seconds);
            return new Round(served, dead, revive(seconds));
        }

        /** Starts the process of the group, and returns what was seen at first. All is as it was when it does. */
        Seen revive(double seconds) throws InterruptedException {
            mortal.start();
            Seen seen = watch(seconds);
            watchUntil(() -> is(GroupStatus.ACTIVE) && hasCaughtUp());
            watch(SETTLING);
            return seen;
        }

        private boolean is(GroupStatus status) {
            return admin.find(GroupProcessMain.GROUP, Installation.TOPIC)
                    .filter(state -> state.status() == status)
                    .isPresent();
        }

        private boolean hasCaughtUp() {
            return admin.catchUp(GroupProcessMain.GROUP, Installation.TOPIC)
                    .map(this::isDone)
                    .orElse(true);
        }

        private boolean isDone(CatchUp catchUp) {
            mostCaughtUp = Math.max(mostCaughtUp, catchUp.total());
            return catchUp.state() == CatchUpState.DONE;
        }

        long gaps() {
            return admin.gaps(GroupProcessMain.GROUP, Installation.TOPIC).size();
        }

        private void watchUntil(BooleanSupplier condition) throws InterruptedException {
            for (int i = 0; !condition.getAsBoolean(); i++) {
                if (i == PATIENCE) {
                    throw new IllegalStateException(
                            "not after %.0f s: %s".formatted(PATIENCE * MOMENT, admin.groups()));
                }
                watch(MOMENT);
            }
        }

        private Seen watch(double seconds) throws InterruptedException {
            CompletableFuture<Histogram> timing = CompletableFuture.supplyAsync(
                    () -> time(seconds),
                    task -> Thread.ofPlatform().name("publishing").start(task));
            LongAccumulator most = new LongAccumulator(Math::max, 0);
            UPKEEP.keep(seconds, due -> {
                most.accumulate(storage.look());
                installation.trunkline().upkeepNow();
                return 1;
            });
            return new Seen(Pace.millis(timing.join(), 95), most.get());
        }

        private Histogram time(double seconds) {
            try {
                return timed.inBatches(BATCH, PUBLISHING, seconds);
            } catch (InterruptedException e) {
                throw new CompletionException(e);
            }
        }

        /** Waits until all is handled. Whether each message was, once, by the groups that live. */
        boolean end() throws InterruptedException {
            long published = installation.appended();
            other.await(published);
            return other.handled() == published;
        }

        /** Fails unless the timed ones were handled once. */
        @Override
        public void close() {
            other.close();
            timed.close();
        }
    }
}
