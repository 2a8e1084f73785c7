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

    /**
     * A fault that a message came again for: it was done not long before that, and came again in its wake. What was done by then may also come
     * much later, when a new owner has come to it.
     */
    private @Nullable Fault explain(Handling before, Handling again) {
        long unrecorded = about.limits().unrecorded().toNanos();
        for (Fault fault : about.history().faults) {
            boolean inItsWake =
                    again.started <= after(fault, about.limits().recovery().toNanos());
            boolean isTaken = before.epoch < again.epoch && lastSeen(before) <= after(fault, unrecorded);
            if (fault.began <= again.started && before.ended >= fault.began - unrecorded && (inItsWake || isTaken)) {
                return fault;
            }
        }
        return null;
    }

    /** Its end, or if nobody lived to tell it, its beginning. */
    private static long lastSeen(Handling handling) {
        return handling.ended == Long.MAX_VALUE ? handling.started : handling.ended;
    }

    private static long after(Fault fault, long nanos) {
        return fault.ended == Long.MAX_VALUE ? Long.MAX_VALUE : fault.ended + nanos;
    }
}
