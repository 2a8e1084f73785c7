package dev.trunkline.checker;

import dev.trunkline.checker.History.Fault;
import dev.trunkline.checker.History.Handling;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** C8: nothing comes twice but for a fault. */
final class Duplicates {

    private final Share about;

    Duplicates(Share about) {
        this.about = about;
    }

    void run() {
        Map<Long, Handling> last = new HashMap<>();
        for (Handling handling : about.handlings()) {
            Handling before = last.put(handling.place.offset(), handling);
            about.figures().handled++;
            if (before == null || (before.hasFailed() && before.ended <= handling.started)) {
                continue;
            }
            about.figures().duplicates++;
            if (isRemembered(before, handling) || explain(before, handling) == null) {
                about.add(
                        Invariant.C8,
                        "\"%s\" at %s came again%s, and no fault explains it"
                                .formatted(
                                        handling.place.value(),
                                        about.at(handling.place.offset()),
                                        before.isDone()
                                                ? " %.1f s after it was done"
                                                        .formatted((handling.started - before.ended) / 1e9)
                                                : " though nobody said that it failed"),
                        handling.place.value());
            }
        }
    }

    /** An owner knows what it has done. It may do it again only if the transaction that it was done in did not end well. */
    private boolean isRemembered(Handling before, Handling again) {
        return before.isDone()
                && before.epoch == again.epoch
                && !about.history().hasEffects(about.stake().group());
    }

    /** A fault in whose wake a message came again, which was done not long before it. */
    private @Nullable Fault explain(Handling before, Handling again) {
        for (Fault fault : about.history().faults) {
            boolean inItsWake = fault.began <= again.started
                    && (fault.ended == Long.MAX_VALUE
                            || again.started
                                    <= fault.ended + about.limits().recovery().toNanos());
            if (inItsWake
                    && before.ended >= fault.began - about.limits().unrecorded().toNanos()) {
                return fault;
            }
        }
        return null;
    }
}
