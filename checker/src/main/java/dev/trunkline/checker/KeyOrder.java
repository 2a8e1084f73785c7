package dev.trunkline.checker;

import dev.trunkline.checker.History.Handling;
import dev.trunkline.checker.History.Place;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** C6: the messages of a key come one after the other. */
final class KeyOrder {

    private final Share about;

    KeyOrder(Share about) {
        this.about = about;
    }

    void run() {
        Map<String, List<Handling>> byKey = new HashMap<>();
        for (Handling handling : about.handlings()) {
            if (handling.place.key() != null) {
                byKey.computeIfAbsent(handling.place.key(), key -> new ArrayList<>())
                        .add(handling);
            }
        }
        Map<String, List<Place>> placesByKey = new HashMap<>();
        for (Place place : about.places().values()) {
            if (place.key() != null && byKey.containsKey(place.key())) {
                placesByKey
                        .computeIfAbsent(place.key(), key -> new ArrayList<>())
                        .add(place);
            }
        }
        byKey.forEach((key, its) -> {
            inOrder(its, placesByKey.getOrDefault(key, List.of()));
            oneAtATime(its);
        });
    }

    /** Nothing starts before all before it are done, or come with it in one call. */
    private void inOrder(List<Handling> starts, List<Place> places) {
        Settled settled = new Settled(about.terms(), places, starts);
        Set<Long> together = new HashSet<>();
        long call = Long.MIN_VALUE;
        for (Handling start : starts) {
            if (start.call != call) {
                call = start.call;
                together.clear();
            }
            together.add(start.place.offset());
            Place open = settled.open(start.started);
            if (open != null && open.offset() < start.place.offset() && !together.contains(open.offset())) {
                about.add(
                        Invariant.C6,
                        "\"%s\" at %s was started while \"%s\" at @%d of its key was not done"
                                .formatted(
                                        start.place.value(),
                                        about.at(start.place.offset()),
                                        open.value(),
                                        open.offset()),
                        open.value(),
                        start.place.value());
            }
        }
    }

    /** Within an epoch one ends before the next starts. An owner that was replaced starts at most what it was about to. */
    private void oneAtATime(List<Handling> starts) {
        Map<Long, Handling> current = new HashMap<>();
        Set<Long> late = new HashSet<>();
        long newest = Long.MIN_VALUE;
        for (Handling start : starts) {
            Handling before = current.put(start.epoch, start);
            if (before != null && before.call != start.call && before.ended > start.started) {
                about.add(
                        Invariant.C6,
                        "\"%s\" at %s was started while \"%s\" at @%d of its key was being handled, both in epoch %d"
                                .formatted(
                                        start.place.value(),
                                        about.at(start.place.offset()),
                                        before.place.value(),
                                        before.place.offset(),
                                        start.epoch),
                        before.place.value(),
                        start.place.value());
            }
            if (start.epoch < newest && !late.add(start.epoch)) {
                about.add(
                        Invariant.C6,
                        "\"%s\" at %s was started in epoch %d after epoch %d had begun with its key, and was not the first"
                                .formatted(start.place.value(), about.at(start.place.offset()), start.epoch, newest),
                        start.place.value());
            }
            newest = Math.max(newest, start.epoch);
        }
    }
}
