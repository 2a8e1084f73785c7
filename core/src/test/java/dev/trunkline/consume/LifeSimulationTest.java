package dev.trunkline.consume;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.trunkline.GroupStatus;
import dev.trunkline.consume.Life.Deed;
import dev.trunkline.testing.Seed;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Thousands of lives of groups, in seconds: processes that serve them and stop to, outages of everything, people who pause and resurrect. */
class LifeSimulationTest {

    private static final int SEEDS = Integer.getInteger("simulation.seeds", 2_000);
    private static final int SEEDS_FOR_A_MISTAKE = 300;
    private static final Life.Times TIMES = new Life.Times(20, 300, 3_000, 86_400);
    private static final long END = 20_000;
    private static final int BETWEEN_BEATS = 4;
    private static final int BETWEEN_LOOKS = 6;

    @Test
    void a_group_is_dead_in_time_if_nobody_serves_it_and_never_if_somebody_does() {
        long seed = Seed.next();
        for (long each = seed; each < seed + SEEDS; each++) {
            new Run(each, Life.AFTER_TWO_LOOKS).live();
        }
        System.out.println("the life of groups: " + SEEDS + " seeds from " + seed);
    }

    @Test
    void it_is_found_if_one_look_at_an_old_beat_kills() {
        requireFound(
                "dead though served",
                (before, seen, now, times) -> seen.status() == GroupStatus.ACTIVE
                        && seen.beatAt() <= now - times.deadAfter()
                        && seen.statusSince() <= now - times.deadAfter());
    }

    @Test
    void it_is_found_if_a_group_that_is_paused_dies() {
        requireFound(
                "dead though paused",
                (before, seen, now, times) -> seen.status() != GroupStatus.DEAD
                        && Objects.requireNonNull(seen.unattendedSince()) <= now - times.deadAfter());
    }

    @Test
    void it_is_found_if_a_group_that_was_called_back_has_no_time() {
        requireFound(
                "dead too early",
                (before, seen, now, times) -> seen.status() == GroupStatus.ACTIVE
                        && (Objects.requireNonNull(seen.unattendedSince()) <= now - times.deadAfter()
                                || !seen.deaths().isEmpty()));
    }

    @Test
    void it_is_found_if_nobody_ever_dies() {
        requireFound("not dead", (before, seen, now, times) -> false);
    }

    private static void requireFound(String problem, Life.Death mistake) {
        List<String> found = new ArrayList<>();
        for (long seed = 1; seed <= SEEDS_FOR_A_MISTAKE; seed++) {
            Throwable violation = catchThrowable(new Run(seed, mistake)::live);
            if (violation != null) {
                found.add(violation.getMessage());
            }
        }
        assertThat(found).anySatisfy(message -> assertThat(message).contains(problem));
    }

    /** One life. */
    private static final class Run {
        private final long seed;
        private final Random random;
        private final Life.Death death;
        private Life life = Life.begun(0);
        private long now;
        private boolean isServed;
        private long awayUntil;
        /** Since when nobody serves it and nothing else is wrong; when it was last served, or called back to life. */
        private long forsakenSince;

        private long sparedAt;

        private long nextBeat;
        private long nextLook;
        private long nextEvent = 1;

        Run(long seed, Life.Death death) {
            this.seed = seed;
            this.random = new Random(seed);
            this.death = death;
        }

        void live() {
            while (now < END) {
                if (now >= nextEvent) {
                    event();
                    nextEvent = now + 1 + random.nextInt(random.nextInt(5) == 0 ? 2_000 : 200);
                }
                if (now >= awayUntil) {
                    work();
                }
                require(!isLate(), "not dead");
                now = Math.min(
                        nextEvent, Math.max(awayUntil, Math.min(nextLook, isServed ? nextBeat : Long.MAX_VALUE)));
            }
        }

        private void event() {
            switch (random.nextInt(7)) {
                case 0, 1 -> {
                    if (!isServed && now >= awayUntil) {
                        isServed = true;
                        act(Deed.BEAT);
                        act(Deed.JOIN);
                    }
                }
                case 2 -> {
                    isServed = false;
                    if (random.nextBoolean() && now >= awayUntil) {
                        act(Deed.LEAVE);
                    }
                }
                case 3 -> awayUntil = now + random.nextInt(2 * (int) TIMES.deadAfter());
                case 4 -> act(Deed.PAUSE);
                case 5 -> act(Deed.RESUME);
                default -> act(Deed.RESURRECT);
            }
            forsakenSince = Math.max(now, awayUntil);
        }

        /** After an outage, who comes first is chance. */
        private void work() {
            boolean looksFirst = random.nextBoolean();
            for (int i = 0; i < 2; i++) {
                if (looksFirst == (i == 0)) {
                    if (now >= nextLook) {
                        nextLook = now + BETWEEN_LOOKS;
                        act(Deed.LOOK);
                    }
                } else if (isServed && now >= nextBeat) {
                    nextBeat = now + BETWEEN_BEATS;
                    act(Deed.BEAT);
                }
            }
        }

        private void act(Deed deed) {
            if (now < awayUntil) {
                return;
            }
            Life before = life;
            Life next = before.after(deed, now, TIMES, death);
            life = next == null ? before : next;
            if (life.status() == GroupStatus.DEAD && before.status() != GroupStatus.DEAD) {
                require(before.status() == GroupStatus.ACTIVE, "dead though paused");
                require(!isServed, "dead though served");
                // Whoever served it since the last look was not seen.
                require(now - sparedAt >= TIMES.deadAfter() - BETWEEN_LOOKS, "dead too early");
            }
            if (isServed || (before.status() == GroupStatus.DEAD && life.status() == GroupStatus.ACTIVE)) {
                sparedAt = now;
            }
            if (life.releasedAt() != null && before.releasedAt() == null) {
                boolean paused = life.status() == GroupStatus.PAUSED && now - life.statusSince() >= TIMES.ttl();
                Long unattended = life.unattendedSince();
                boolean unserved = !isServed && unattended != null && now - unattended >= TIMES.ttl();
                require(paused || unserved, "released though served");
            }
        }

        /** Dead is who was forsaken for its time, two looks, and as long as a beat is believed. */
        private boolean isLate() {
            return !isServed
                    && life.status() == GroupStatus.ACTIVE
                    && now - forsakenSince > TIMES.deadAfter() + TIMES.believed() + 2 * BETWEEN_LOOKS;
        }

        private void require(boolean holds, String problem) {
            if (!holds) {
                throw new AssertionError("seed " + seed + ", after " + now + " s: " + problem + ": " + life);
            }
        }
    }
}
