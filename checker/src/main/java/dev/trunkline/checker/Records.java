package dev.trunkline.checker;

import dev.trunkline.checker.Event.Cursor;
import dev.trunkline.checker.Event.First;
import dev.trunkline.checker.History.Place;
import java.util.List;

/** C9 and C12: what is recorded as done was done, and only what is done is dropped. */
final class Records {

    private final Share about;
    private final List<Cursor> cursors;

    Records(Share about) {
        this.about = about;
        this.cursors = about.history().cursors.getOrDefault(about.stake(), List.of());
    }

    void run() {
        recorded();
        dropped();
    }

    /** A cursor never passes what was handled by then. */
    private void recorded() {
        Settled settled = new Settled(about.terms(), about.places().values(), about.handlings());
        for (Cursor cursor : cursors) {
            Place open = settled.open(cursor.time());
            if (open != null && open.offset() < cursor.offset()) {
                about.add(
                        Invariant.C9,
                        "it is recorded to have done everything before %s, and \"%s\" at @%d was not done by then"
                                .formatted(about.at(cursor.offset()), open.value(), open.offset()),
                        open.value());
                return; // the cursors after it say the same
            }
        }
    }

    /** Where the log begins, against what the group is recorded to have done at that time or later. */
    private void dropped() {
        int next = 0;
        long reads = 0;
        long needed = 0;
        for (First first : about.history().firsts.getOrDefault(about.stake().partition(), List.of())) {
            while (next < cursors.size() && cursors.get(next).time() < first.time()) {
                next++;
            }
            if (next == cursors.size() || about.history().hasLeft(about.stake())) {
                return;
            }
            long readsNow = cursors.get(next).reads();
            if (readsNow < reads || readsNow > needed) {
                needed = readsNow; // otherwise all from there to what was needed last is still excused
            }
            reads = readsNow;
            while (needed < first.offset() && about.terms().excuse(needed, first.time())) {
                needed++;
            }
            if (needed < first.offset()) {
                Place lost = about.places().get(needed);
                about.add(
                        Invariant.C12,
                        "%s begins at %d, and the group has yet to read from %d on"
                                .formatted(about.stake().partition(), first.offset(), needed),
                        lost == null ? "" : lost.value());
                return;
            }
        }
    }
}
