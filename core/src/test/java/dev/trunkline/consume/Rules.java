package dev.trunkline.consume;

import dev.trunkline.database.Backoff;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;

/** The decisions that a simulated world is run by: those of the engine, or, to see whether anybody notices, others. */
record Rules(
        Beating beating,
        Function<Duration, Watching> watching,
        Sharing sharing,
        Fence fence,
        Supplier<Backoff> backoff) {

    /** What a session knows of itself when its beat was answered. */
    interface Beating {
        Pulse of(long session, long sent, long answered, Duration lease);
    }

    /** What it makes of the beats of others. */
    interface Watching {
        Map<Long, Long> look(Map<Long, Watch.Beat> beats, long nanos);

        void fail();

        long interval();
    }

    /** How many partitions it takes or gives. */
    interface Sharing {
        Shares.Move decide(int partitions, int mine, List<Integer> others);
    }

    /** Whether a record counts. */
    interface Fence {
        boolean admits(Register.Holder holder, long session, long epoch);
    }

    /** As the engine does it, and {@code 009_groups.sql}. */
    static Rules engine() {
        return new Rules(
                (session, sent, answered, lease) -> Pulse.of(session, sent, lease),
                EngineWatch::new,
                Shares::decide,
                (holder, session, epoch) -> holder.session() == session && holder.epoch() == epoch,
                Session::backoff);
    }

    /** As the engine watches; those who make mistakes differ in something. */
    static class EngineWatch implements Watching {
        private final Watch watch;

        EngineWatch(Duration lease) {
            this.watch = new Watch(lease);
        }

        @Override
        public Map<Long, Long> look(Map<Long, Watch.Beat> beats, long nanos) {
            return watch.look(beats, nanos);
        }

        @Override
        public void fail() {
            watch.fail();
        }

        @Override
        public long interval() {
            return watch.interval();
        }
    }

    Rules withBeating(Beating other) {
        return new Rules(other, watching, sharing, fence, backoff);
    }

    Rules withWatching(Function<Duration, Watching> other) {
        return new Rules(beating, other, sharing, fence, backoff);
    }

    Rules withSharing(Sharing other) {
        return new Rules(beating, watching, other, fence, backoff);
    }

    Rules withFence(Fence other) {
        return new Rules(beating, watching, sharing, other, backoff);
    }

    Rules withBackoff(Supplier<Backoff> other) {
        return new Rules(beating, watching, sharing, fence, other);
    }
}
