package dev.trunkline.checker;

import dev.trunkline.checker.History.Fault;
import dev.trunkline.checker.History.Handling;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** C8: nothing comes twice but for a fault. */
final class Duplicates {

    private final Share about;
    private final long unrecorded;
    private final long recovery;

    Duplicates(Share about) {
        this.about = about;
        this.unrecorded = about.limits().unrecorded().toNanos();
        this.recovery = about.limits().recovery().toNanos();
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
            Fault fault = isRemembered(before, handling) ? null : explain(before, handling);
            if (fault != null) {
                fault.duplicates++;
                about.figures().mostOfOneFault = Math.max(about.figures().mostOfOneFault, fault.duplicates);
            } else {
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
     * The last fault that a message came again for: while it went on or shortly around it, the message was being handled, so that what became of it
     * may not be recorded. It comes again in the fault's wake, or whenever a new owner has come to it.
     */
    private @Nullable Fault explain(Handling before, Handling again) {
        Faults faults = about.history().faults;
        long latest = Math.min(again.started, later(before.ended, unrecorded));
        for (int i = faults.lastBy(latest);
                i >= 0 && later(faults.endOfAllUpTo(i), unrecorded) >= before.started;
                i--) {
            Fault fault = faults.get(i);
            boolean isAround = later(fault.ended, unrecorded) >= before.started;
            boolean isInItsWake = later(fault.ended, recovery) >= again.started;
            if (isAround && (isInItsWake || before.epoch < again.epoch) && isFeltBy(fault, before, again)) {
                return fault;
            }
        }
        return null;
    }

    private static boolean isFeltBy(Fault fault, Handling before, Handling again) {
        return fault.victim == null || fault.victim.equals(before.member) || fault.victim.equals(again.member);
    }

    private static long later(long time, long nanos) {
        return time == Long.MAX_VALUE ? time : time + nanos;
    }
}
