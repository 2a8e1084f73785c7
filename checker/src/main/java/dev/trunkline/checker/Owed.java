package dev.trunkline.checker;

import dev.trunkline.checker.History.Handling;
import dev.trunkline.checker.History.Place;
import java.util.HashMap;
import java.util.Map;

/** C1 and C11: a group has handled everything that it is owed, and in time. */
final class Owed {

    private final Share about;

    Owed(Share about) {
        this.about = about;
    }

    void run() {
        if (about.history().hasLeft(about.stake())) {
            return;
        }
        Map<Long, Long> doneAt = new HashMap<>();
        for (Handling handling : about.handlings()) {
            if (handling.isDone()) {
                doneAt.merge(handling.place.offset(), handling.ended, Math::min);
            }
        }
        long limit = about.history().stopped == Long.MAX_VALUE
                ? Long.MAX_VALUE
                : about.history().stopped + about.limits().drain().toNanos();
        for (Place place : about.places().values()) {
            Long done = doneAt.get(place.offset());
            if (about.terms().excuse(place.offset())) {
                continue;
            }
            if (done == null) {
                about.add(
                        Invariant.C1,
                        "it never handled \"%s\" at %s".formatted(place.value(), about.at(place.offset())),
                        place.value());
            } else if (done > limit) {
                about.add(
                        Invariant.C11,
                        "\"%s\" at %s was handled %.1f s after everything had stopped"
                                .formatted(
                                        place.value(),
                                        about.at(place.offset()),
                                        (done - about.history().stopped) / 1e9),
                        place.value());
            }
        }
    }
}
