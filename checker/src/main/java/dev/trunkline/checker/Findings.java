package dev.trunkline.checker;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** What was found to be wrong: how much of each kind, and the first of them in full. */
final class Findings {

    /** So many of a kind are told. */
    private static final int TOLD = 10;

    private final Map<Invariant, Long> counts = new EnumMap<>(Invariant.class);
    private final List<Violation> told = new ArrayList<>();

    /** @param values the values that it is about */
    void add(Invariant invariant, String what, String... values) {
        if (counts.merge(invariant, 1L, Long::sum) <= TOLD) {
            told.add(new Violation(invariant, what, List.of(values)));
        }
    }

    Map<Invariant, Long> counts() {
        return counts;
    }

    List<Violation> told() {
        return told;
    }
}
