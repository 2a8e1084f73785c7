package dev.trunkline.checker;

import dev.trunkline.checker.History.Handling;
import dev.trunkline.checker.History.Place;
import dev.trunkline.checker.History.Stake;
import dev.trunkline.checker.History.Terms;
import java.util.List;
import java.util.NavigableMap;

/** What one group did with one partition: all that is to be known to check it. */
record Share(History history, Limits limits, Findings findings, Figures figures, Stake stake) {

    Terms terms() {
        return history.terms(stake);
    }

    /** By when they started. */
    List<Handling> handlings() {
        return history.handlings(stake);
    }

    /** What anybody saw in the partition. */
    NavigableMap<Long, Place> places() {
        return history.places(stake.partition());
    }

    String at(long offset) {
        return stake.partition() + "@" + offset;
    }

    void add(Invariant invariant, String what, String... values) {
        findings.add(invariant, "group %s: %s".formatted(stake.group(), what), values);
    }
}
