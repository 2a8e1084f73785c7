/**
 * A directory of results that grows scenario by scenario: a {@code .jsonl} file for each, which is all that is known, and a
 * {@code README.md} with charts, which is written anew from all of those files and from nothing else.
 */
@NullMarked
package dev.trunkline.benchmarks.report;

import org.jspecify.annotations.NullMarked;
