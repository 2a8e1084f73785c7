/**
 * Measures Trunkline on this machine. A figure counts only as a ratio: every {@link dev.trunkline.benchmarks.Scenario} runs
 * what Trunkline does and what a good engineer would have written instead, by turns, on one database, with the same
 * payloads, connections and driver settings, and compares the median of the ratios of the turns with its target.
 */
@NullMarked
package dev.trunkline.benchmarks;

import org.jspecify.annotations.NullMarked;
