package dev.trunkline.checker;

import java.util.List;

/**
 * Something that must not be.
 *
 * @param what what it is, in words
 * @param values the values of the messages that it is about
 */
public record Violation(Invariant invariant, String what, List<String> values) {

    @Override
    public String toString() {
        return invariant + ": " + what;
    }
}
