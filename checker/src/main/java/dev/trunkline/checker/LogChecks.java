package dev.trunkline.checker;

import dev.trunkline.checker.Event.Read;
import dev.trunkline.checker.Event.Way;
import dev.trunkline.checker.History.Conflict;
import dev.trunkline.checker.History.Partition;
import dev.trunkline.checker.History.Place;
import dev.trunkline.checker.History.Publication;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;

/** The log against its publishers and readers: C1 to C5. */
final class LogChecks {

    private final History history;
    private final Findings findings;
    private final Map<String, Spot> spotOf = new HashMap<>();

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
                    "%s@%d was seen with \"%s\" and with \"%s\""
                            .formatted(
                                    conflict.partition(),
                                    conflict.one().offset(),
                                    conflict.one().value(),
                                    conflict.other().value()),
                    conflict.one().value(),
                    conflict.other().value());
        }
        history.publications.forEach(this::presence);
        history.unknown.forEach(this::whole);
        history.places.forEach((partition, places) -> {
            dense(partition, places);
            order(partition, places);
        });
        history.logged.forEach(this::kept);
        history.readings.forEach((reading, reads) -> contiguous(reading.reader(), reading.partition(), reads));
    }

    private void onePlace(Partition partition, Place place) {
        Spot spot = new Spot(partition, place.offset());
        Spot other = spotOf.putIfAbsent(place.value(), spot);
        if (other != null) {
            findings.add(
                    Invariant.C3, "\"%s\" is at %s and at %s".formatted(place.value(), other, spot), place.value());
        }
        if (!history.publications.containsKey(place.value())) {
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

    /** From the first offset that anybody saw. */
    private void dense(Partition partition, NavigableMap<Long, Place> places) {
        long expected = places.firstKey();
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
    private void kept(Partition partition, NavigableSet<Long> logged) {
        for (Place place : history.places(partition).tailMap(logged.first()).values()) {
            if (!logged.contains(place.offset())) {
                findings.add(
                        Invariant.C1,
                        "\"%s\" was seen at %s@%d and is not in the log in the end"
                                .formatted(place.value(), partition, place.offset()),
                        place.value());
            }
        }
    }

    private void contiguous(String reader, Partition partition, List<Read> reads) {
        for (int i = 1; i < reads.size(); i++) {
            Read before = reads.get(i - 1);
            Read now = reads.get(i);
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
