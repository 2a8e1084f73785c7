/**
 * Holds what happened against what was promised. Every process writes down what it does and what it is told, each into a file of its own
 * ({@link dev.trunkline.checker.Journal}); afterwards {@link dev.trunkline.checker.Checker} reads all files and looks for what must not be.
 * It knows nothing of how messages are kept: it works for any log with partitions, offsets and consumer groups.
 *
 * <p>Values are unique, so every check is a matter of sorting. All processes must be on one machine, whose {@code nanoTime} is the clock.
 */
@NullMarked
package dev.trunkline.checker;

import org.jspecify.annotations.NullMarked;
