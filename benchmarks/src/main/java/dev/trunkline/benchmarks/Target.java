package dev.trunkline.benchmarks;

import java.util.Locale;
import java.util.function.DoublePredicate;

/**
 * What a ratio should be.
 *
 * @param words as people read it
 * @param met whether a ratio does
 */
record Target(String words, DoublePredicate met) {

    static Target atLeast(double ratio) {
        return new Target(String.format(Locale.ROOT, ">= %.2f", ratio), value -> value >= ratio);
    }

    /** Whatever it is. */
    static Target none() {
        return new Target("for the record", ratio -> true);
    }

    static Target atMost(double ratio, String of) {
        return new Target(String.format(Locale.ROOT, "<= %.2f (%s)", ratio, of), value -> value <= ratio);
    }
}
