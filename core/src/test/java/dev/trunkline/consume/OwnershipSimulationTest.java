package dev.trunkline.consume;

import dev.trunkline.consume.Rules.Watching;
import dev.trunkline.consume.World.Violation;
import dev.trunkline.database.Backoff;
import dev.trunkline.testing.Seed;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BinaryOperator;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Who owns what, in thousands of {@linkplain World worlds}. {@code -Dsimulation.seeds=100000} tries more of them; {@code -Dseed=... -Dsimulation.seeds=1}
 * shows one again.
 */
class OwnershipSimulationTest {

    private static final int SEEDS = Integer.getInteger("simulation.seeds", 1_500);
    private static final int SEEDS_FOR_A_MISTAKE = 10_000;

    @Test
    void nothing_that_happens_to_processes_breaks_a_promise() {
        long seed = Seed.next();
        for (long each = seed; each < seed + SEEDS; each++) {
            World.run(each, Rules.engine());
        }
        System.out.println("ownership: " + SEEDS + " seeds from " + seed);
    }

    static List<Arguments> mistakes() {
        return List.of(
                mistake(
                        "nobody looks who records",
                        "no fence",
                        rules -> rules.withFence((holder, session, epoch) -> true)),
                mistake(
                        "the epoch does not matter",
                        "no fence",
                        rules -> rules.withFence((holder, session, epoch) -> holder.session() == session)),
                mistake(
                        "one look ends a session",
                        "ended alive",
                        rules -> rules.withWatching(believing((own, lease) -> Duration.ofMillis(500)))),
                mistake(
                        "a look that failed counts",
                        "ended alive",
                        rules -> rules.withWatching(OwnershipSimulationTest::countingFailures)),
                mistake(
                        "leases are those of whoever looks",
                        "ended alive",
                        rules -> rules.withWatching(believing((own, lease) -> own))),
                mistake(
                        "looks are a second apart",
                        "not replaced",
                        rules -> rules.withWatching(OwnershipSimulationTest::lookingSeldom)),
                mistake(
                        "a beat that failed is tried again late",
                        "ended alive",
                        rules -> rules.withBackoff(() -> new Backoff(Duration.ofSeconds(5)))),
                mistake(
                        "a session counts from the answer",
                        "two owners",
                        rules -> rules.withBeating((session, sent, answered, lease) -> new Pulse(
                                session,
                                Pulse.of(session, answered, lease).aliveUntil(),
                                Pulse.of(session, sent, lease).nextBeat()))),
                mistake(
                        "a session lives until it is told otherwise",
                        "two owners",
                        rules -> rules.withBeating((session, sent, answered, lease) -> new Pulse(
                                session,
                                answered + Long.MAX_VALUE,
                                Pulse.of(session, sent, lease).nextBeat()))),
                mistake(
                        "nothing is given up",
                        "not fair",
                        rules -> rules.withSharing((partitions, mine, others) -> new Shares.Move(
                                Shares.decide(partitions, mine, others).take(), false))),
                mistake(
                        "what remains waits for its turn",
                        "not replaced",
                        rules -> rules.withSharing(OwnershipSimulationTest::upToTheFloor)));
    }

    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource("mistakes")
    void a_mistake_is_found(UnaryOperator<Rules> mistake, String promise) {
        Rules rules = mistake.apply(Rules.engine());
        for (long seed = 1; seed <= SEEDS_FOR_A_MISTAKE; seed++) {
            try {
                World.run(seed, rules);
            } catch (Violation e) {
                if (e.promise.equals(promise)) {
                    return;
                }
            }
        }
        throw new AssertionError("not found in " + SEEDS_FOR_A_MISTAKE + " worlds");
    }

    private static Arguments mistake(String name, String promise, UnaryOperator<Rules> mistake) {
        return Arguments.of(Named.of(name, mistake), promise);
    }

    /** Takes leases for something else. */
    private static Function<Duration, Watching> believing(BinaryOperator<Duration> leases) {
        return own -> new Rules.EngineWatch(own) {
            @Override
            public Map<Long, Long> look(Map<Long, Watch.Beat> beats, long nanos) {
                Map<Long, Watch.Beat> believed = new HashMap<>();
                beats.forEach((session, beat) ->
                        believed.put(session, new Watch.Beat(beat.count(), leases.apply(own, beat.lease()))));
                return super.look(believed, nanos);
            }
        };
    }

    private static Watching countingFailures(Duration own) {
        return new Rules.EngineWatch(own) {
            private Map<Long, Watch.Beat> last = Map.of();
            private final Map<Long, Long> dead = new HashMap<>();

            @Override
            public Map<Long, Long> look(Map<Long, Watch.Beat> beats, long nanos) {
                last = beats;
                dead.putAll(super.look(beats, 0));
                Map<Long, Long> all = Map.copyOf(dead);
                dead.clear();
                return all;
            }

            @Override
            public void fail() {
                dead.putAll(super.look(last, 0));
            }
        };
    }

    private static Watching lookingSeldom(Duration own) {
        return new Rules.EngineWatch(own) {
            @Override
            public Map<Long, Long> look(Map<Long, Watch.Beat> beats, long nanos) {
                Map<Long, Watch.Beat> halved = new HashMap<>();
                beats.forEach((session, beat) -> halved.put(
                        session, new Watch.Beat(beat.count(), beat.lease().dividedBy(2))));
                return super.look(halved, nanos);
            }

            @Override
            public long interval() {
                return 2 * super.interval();
            }
        };
    }

    private static Shares.Move upToTheFloor(int partitions, int mine, List<Integer> others) {
        Shares.Move move = Shares.decide(partitions, mine, others);
        int floor = partitions / (others.size() + 1);
        boolean isSmallest = others.stream().allMatch(other -> mine <= other);
        return move.take() == 0 || (mine >= floor && isSmallest)
                ? move
                : new Shares.Move(Math.max(0, Math.min(move.take(), floor - mine)), false);
    }
}
