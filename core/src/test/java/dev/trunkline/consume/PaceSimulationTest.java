package dev.trunkline.consume;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.trunkline.BackfillConfiguration;
import dev.trunkline.testing.Seed;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Groups that work off their history, in virtual time: the database is quick, then busy with others, then quick again; somebody stops the group and
 * lets it go on. It is shared out as {@link Intake} does it.
 */
class PaceSimulationTest {

    private static final int SEEDS = Integer.getInteger("simulation.seeds", 200);
    private static final long MILLISECOND = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long SECOND = 1_000 * MILLISECOND;
    private static final int AT_ONCE = 500;

    /** How much of what is allowed each strand gets. */
    private interface Sharing {
        Pace.Share share(int allowance, int strands, int most);
    }

    @Test
    void history_is_read_within_its_bounds_less_in_a_rush_and_by_all_partitions_alike() {
        long seed = Seed.next();
        for (long each = seed; each < seed + SEEDS; each++) {
            new Run(each, Pace::share, true).live();
        }
        System.out.println("catch-up: " + SEEDS + " seeds from " + seed);
    }

    @Test
    void it_is_found_if_every_strand_gets_all_that_is_allowed() {
        requireFound(
                "more than allowed",
                (allowance, strands, most) -> new Pace.Share(strands, Math.min(allowance, most)),
                true);
    }

    @Test
    void it_is_found_if_what_is_too_little_for_all_is_for_nobody() {
        requireFound(
                "stuck",
                (allowance, strands, most) -> new Pace.Share(
                        allowance < strands ? 0 : strands, allowance < strands ? most : allowance / strands),
                true);
    }

    @Test
    void it_is_found_if_late_answers_are_not_heard_of() {
        requireFound("does not back off", Pace::share, false);
    }

    private static void requireFound(String problem, Sharing sharing, boolean hears) {
        long seed = Seed.next();
        assertThatThrownBy(() -> {
                    for (long each = seed; each < seed + 100; each++) {
                        new Run(each, sharing, hears).live();
                    }
                })
                .hasMessageContaining(problem);
    }

    /** One group. */
    private static final class Run {
        private final long seed;
        private final Random random;
        private final Sharing sharing;
        private final boolean hears;
        private final BackfillConfiguration settings;
        private final long[] read;
        /** One that runs over. */
        private long now = Long.MAX_VALUE - 5 * SECOND;

        private final Pace pace;

        Run(long seed, Sharing sharing, boolean hears) {
            this.seed = seed;
            this.random = new Random(seed);
            this.sharing = sharing;
            this.hears = hears;
            this.settings = new BackfillConfiguration(
                    1_000_000,
                    1 + random.nextInt(2_000),
                    100 + random.nextInt(50_000),
                    Duration.ofMillis(1 + random.nextInt(50)));
            this.read = new long[1 + random.nextInt(64)];
            this.pace = new Pace(settings, now);
        }

        void live() {
            pass(random.nextInt(5), 1);
            // Every phase ends in a rush that is over: whatever came before, it slows down and recovers.
            for (int phase = 0; phase < 3; phase++) {
                pass(random.nextInt(10), random.nextInt(30));
                now += random.nextLong(100 * SECOND); // held, or paused
                quick();
                double before = pace.rate();
                pass(10, 100);
                require(pace.rate() <= Math.max(1, before / 8), "does not back off");
                Arrays.fill(read, 0);
                pass(60, 100);
                require(
                        IntStream.range(0, read.length)
                                        .mapToLong(strand -> read[strand])
                                        .sum()
                                > 0,
                        "stuck");
                quick();
                require(pace.rate() == settings.messagesPerSecond(), "does not recover");
            }
            Arrays.fill(read, 0);
            pass(20, 0);
            long most = Arrays.stream(read).max().orElseThrow();
            long least = Arrays.stream(read).min().orElseThrow();
            require(
                    least > 0 && (most - least) <= most / 2 + 20L * settings.batchSize(),
                    "not shared: " + Arrays.toString(read));
        }

        /** Long enough for whatever rate there is to be the highest. */
        private void quick() {
            pass(15, 0);
        }

        /** So many seconds in which so many of a hundred answers are late. Once it is asked, it is asked every few milliseconds. */
        private void pass(int seconds, int late) {
            long end = now + seconds * SECOND;
            long began = now;
            long before = Arrays.stream(read).sum();
            while (now - end < 0) {
                if (pace.wantsProbe(now)) {
                    long target = settings.targetLatency().toNanos();
                    boolean isLate = random.nextInt(100) < late && hears;
                    long took = isLate
                            ? target + 1 + random.nextLong(20 * MILLISECOND)
                            : random.nextLong(Math.min(target, 10 * MILLISECOND));
                    now += took;
                    pace.answered(now, took);
                }
                int allowed = pace.allowance(now);
                require(allowed >= 0 && allowed <= settings.batchSize(), "more than a batch");
                read(allowed);
                now += 3 * MILLISECOND + random.nextLong(MILLISECOND);
            }
            long most = (long) (settings.messagesPerSecond() * ((now - began) / 1e9)) + settings.batchSize();
            require(Arrays.stream(read).sum() - before <= most, "more than its rate");
        }

        private void read(int allowed) {
            if (allowed == 0) {
                return;
            }
            List<Integer> strands = IntStream.range(0, read.length).boxed().collect(Collectors.toList());
            if (strands.size() > allowed) {
                Collections.shuffle(strands, random);
            }
            Pace.Share share = sharing.share(allowed, strands.size(), AT_ONCE);
            int sum = 0;
            for (int strand : strands.subList(0, share.strands())) {
                read[strand] += share.each();
                sum += share.each();
            }
            require(sum <= allowed, "more than allowed");
            pace.took(sum);
        }

        private void require(boolean holds, String problem) {
            if (!holds) {
                throw new AssertionError("seed " + seed + ": " + problem + ": " + settings + ", " + read.length
                        + " strands, rate " + pace.rate());
            }
        }
    }
}
