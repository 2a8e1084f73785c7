package dev.trunkline.checker;

import dev.trunkline.checker.History.Handling;
import dev.trunkline.checker.History.Place;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** C6: the messages of a key come one after the other. */
final class KeyOrder {

    private final Share about;
    private final TreeMap<Long, Long> firstStarts = new TreeMap<>();
    /** When an epoch was certainly over: a later one had begun. */
    private final Map<Long, Long> replaced = new HashMap<>();

    KeyOrder(Share about) {
        this.about = about;
    }

    void run() {
        findFirstStarts();
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

    /** When the owners that came after each were at work. */
    private void findFirstStarts() {
        for (Handling handling : about.handlings()) {
            firstStarts.merge(handling.epoch, handling.started, Math::min);
        }
        long first = Long.MAX_VALUE;
        for (Map.Entry<Long, Long> each : firstStarts.descendingMap().entrySet()) {
            replaced.put(each.getKey(), first);
            first = Math.min(first, each.getValue());
        }
    }

    /** Within an epoch one ends before the next starts, which is a later one. An owner that was replaced starts at most what it was about to. */
    private void oneAtATime(List<Handling> starts) {
        Map<Long, Handling> current = new HashMap<>();
        Set<Long> late = new HashSet<>();
        for (Handling start : starts) {
            Handling before = current.put(start.epoch, start);
            if (before != null && before.call != start.call && before.ended > start.started) {
                tell(start, before, "was being handled");
            }
            if (before != null
                    && before.place.offset() > start.place.offset()
                    && !about.terms().isLetter(start.place.offset())) {
                tell(start, before, "had been started before");
            }
            if (replaced.getOrDefault(start.epoch, Long.MAX_VALUE) < start.started && !late.add(start.epoch)) {
                about.add(
                        Invariant.C6,
                        "\"%s\" at %s was started in epoch %d after its partition had another owner, and was not the first of its key"
                                .formatted(start.place.value(), about.at(start.place.offset()), start.epoch),
                        start.place.value());
            }
        }
    }

    private void tell(Handling start, Handling before, String how) {
        about.add(
                Invariant.C6,
                "\"%s\" at %s was started while \"%s\" at @%d of its key %s, both in epoch %d"
                        .formatted(
                                start.place.value(),
                                about.at(start.place.offset()),
                                before.place.value(),
                                before.place.offset(),
                                how,
                                start.epoch),
                before.place.value(),
                start.place.value());
    }
}
