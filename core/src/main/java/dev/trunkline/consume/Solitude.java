package dev.trunkline.consume;

import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Lets one run be handled while no other is, in the whole process: if the process dies then, it died of it. */
final class Solitude {

    private final AtomicReference<@Nullable Run> alone = new AtomicReference<>();

    /** Whether it is this run's. From now on no other run is begun; those that are under way end first. */
    boolean claim(Run run) {
        return alone.compareAndSet(null, run) || isOf(run);
    }

    boolean isOf(Run run) {
        return alone.get() == run;
    }

    boolean mayRun(Run run) {
        Run now = alone.get();
        return now == null || now == run;
    }

    /** Whether it was this run's. */
    boolean release(Run run) {
        return alone.compareAndSet(run, null);
    }

    /** Runs of a kind do not need it any more. Whether it was one of them that had it. */
    boolean releaseIf(Predicate<Run> which) {
        Run now = alone.get();
        return now != null && which.test(now) && release(now);
    }
}
