package dev.trunkline.checker;

import dev.trunkline.checker.Event.Way;
import dev.trunkline.checker.History.Conflict;
import dev.trunkline.checker.History.Partition;
import dev.trunkline.checker.History.Place;
import dev.trunkline.checker.History.Publication;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Set;

/** The log against its publishers and readers: C1 to C5. */
final class LogChecks {

    private final History history;
    private final Findings findings;
    private final Map<String, Spot> spotOf = new HashMap<>();
    private final Map<Home, Partition> homeOf = new HashMap<>();

    /** What has one partition. */
    private record Home(String topic, String key) {}

    /** Where a value was first seen. */
    private record Spot(Partition partition, long offset) {
        @Override
        public String toString() {
            return partition + "@" + offset;
        }
    }

    LogChecks(History history, Findings findings) {
        this.history = history;
        this.findings = findings;
    }

    void run() {
        history.places.forEach((partition, places) -> places.values().forEach(place -> onePlace(partition, place)));
        for (Conflict conflict : history.conflicts) {
            findings.add(
                    Invariant.C3,
                    "%s@%d was seen with %s and with %s"
                            .formatted(
                                    conflict.partition(),
                                    conflict.one().offset(),
                                    words(conflict.one()),
                                    words(conflict.other())),
                    conflict.one().value(),
                    conflict.other().value());
        }
        history.publications.forEach(this::presence);
        history.unknown.forEach(this::whole);
        history.places.forEach((partition, places) -> {
            order(partition, places);
            dense(partition, places.tailMap(history.first(partition), true));
            if (history.isListed || !history.logged.isEmpty()) {
                kept(partition, places.tailMap(history.first(partition), true));
            }
        });
        history.readings.forEach((reading, reads) -> contiguous(reading.reader(), reading.partition(), reads));
    }

    private static String words(Place place) {
        return "\"%s\" of key %s".formatted(place.value(), place.key());
    }

    private void onePlace(Partition partition, Place place) {
        Spot spot = new Spot(partition, place.offset());
        if (place.key() != null) {
            Partition home = homeOf.computeIfAbsent(new Home(partition.topic(), place.key()), key -> partition);
            if (!home.equals(partition)) {
                findings.add(
                        Invariant.C3,
                        "key \"%s\" is in %s and, with \"%s\", at %s".formatted(place.key(), home, place.value(), spot),
                        place.value());
            }
        }
        Spot other = spotOf.putIfAbsent(place.value(), spot);
        if (other != null) {
            findings.add(
                    Invariant.C3, "\"%s\" is at %s and at %s".formatted(place.value(), other, spot), place.value());
        }
        Publication publication = history.publications.get(place.value());
        if (publication != null && place.keyIsKnown() && !Objects.equals(publication.key, place.key())) {
            findings.add(
                    Invariant.C2,
                    "\"%s\" at %s was published with key %s and has %s"
                            .formatted(place.value(), spot, publication.key, place.key()),
                    place.value());
        }
        if (publication == null) {
            findings.add(
                    Invariant.C2, "\"%s\" at %s was never published".formatted(place.value(), spot), place.value());
        }
    }

    private void presence(String value, Publication publication) {
        Spot spot = spotOf.get(value);
        if (publication.way == Way.WORK && history.business.contains(value) != (spot != null)) {
            findings.add(
                    Invariant.C2,
                    spot == null
                            ? "\"%s\" has its row of business and no message".formatted(value)
                            : "\"%s\" at %s has no row of business".formatted(value, spot),
                    value);
        }
        if (spot == null) {
            if (publication.isAcknowledged()) {
                findings.add(Invariant.C1, "\"%s\" was acknowledged and is nowhere".formatted(value), value);
            }
        } else if (!spot.partition.topic().equals(publication.topic)) {
            findings.add(
                    Invariant.C2,
                    "\"%s\" was published to %s and is at %s".formatted(value, publication.topic, spot),
                    value);
        } else if (publication.hasFailed()) {
            findings.add(
                    Invariant.C2,
                    "\"%s\" is at %s, and its publisher was told that it failed".formatted(value, spot),
                    value);
        }
    }

    private void whole(List<String> values) {
        List<String> missing =
                values.stream().filter(value -> !spotOf.containsKey(value)).toList();
        if (!missing.isEmpty() && missing.size() < values.size()) {
            findings.add(
                    Invariant.C2,
                    "of %s, which were published together, %s are nowhere".formatted(values, missing),
                    values.toArray(String[]::new));
        }
    }

    /** From the first offset that is kept. */
    private void dense(Partition partition, NavigableMap<Long, Place> places) {
        long expected = history.first(partition);
        for (Place place : places.values()) {
            if (place.offset() > expected) {
                findings.add(
                        Invariant.C3,
                        "%s has nothing at %d to %d".formatted(partition, expected, place.offset() - 1),
                        place.value());
            }
            expected = place.offset() + 1;
        }
    }

    /** From the back: the earliest acknowledgement of all that follows must not be before this one began. */
    private void order(Partition partition, NavigableMap<Long, Place> places) {
        long earliest = Long.MAX_VALUE;
        Place first = null;
        for (Place place : places.descendingMap().values()) {
            Publication publication = history.publications.get(place.value());
            if (publication == null || publication.way == Way.LATER) {
                continue;
            }
            if (first != null && earliest < publication.invoked) {
                findings.add(
                        Invariant.C4,
                        "\"%s\" at %s@%d was acknowledged before \"%s\" at @%d began to be published"
                                .formatted(first.value(), partition, first.offset(), place.value(), place.offset()),
                        first.value(),
                        place.value());
            }
            if (publication.acknowledged < earliest) {
                earliest = publication.acknowledged;
                first = place;
            }
        }
    }

    /** What was seen from the first offset that is kept on is still there. */
    private void kept(Partition partition, NavigableMap<Long, Place> places) {
        Set<Long> logged = history.logged.getOrDefault(partition, Set.of());
        for (Place place : places.values()) {
            if (!logged.contains(place.offset())) {
                findings.add(
                        Invariant.C1,
                        "\"%s\" was seen at %s@%d and is not in the log in the end"
                                .formatted(place.value(), partition, place.offset()),
                        place.value());
            }
        }
    }

    private void contiguous(String reader, Partition partition, List<Place> reads) {
        for (int i = 1; i < reads.size(); i++) {
            Place before = reads.get(i - 1);
            Place now = reads.get(i);
            if (now.offset() != before.offset() + 1) {
                findings.add(
                        Invariant.C5,
                        "%s went from %s@%d to @%d".formatted(reader, partition, before.offset(), now.offset()),
                        before.value(),
                        now.value());
            }
        }
    }
}
