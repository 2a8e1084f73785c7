package dev.trunkline.faults.seeded;

import dev.trunkline.checker.Invariant;

/**
 * A mistake that logs of this kind are known to have.
 *
 * @param name what is wrong, in a few words
 * @param breaks which promise is broken by it
 * @param story what happens, with the mistake or without
 */
record SeededBug(String name, Invariant breaks, Story story) {

    /** Something that happens on a log. */
    @FunctionalInterface
    interface Story {
        void tell(Miniature log, boolean flawed) throws Exception;
    }
}
