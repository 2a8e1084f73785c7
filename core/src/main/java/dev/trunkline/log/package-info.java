/**
 * Reading the log. A topic's log is cut into segments, each a table; the catalogue says which offsets lie in which. A read
 * that finds nothing of a strand, and not in the newest segment, or whose segment is gone, looks at the catalogue again before it believes it. A
 * missing offset is an error, never skipped.
 *
 * <p>Groups read through a cache of blocks, which they share: see {@link dev.trunkline.log.BlockCache}. {@link dev.trunkline.Log} reads
 * past it.
 */
@NullMarked
package dev.trunkline.log;

import org.jspecify.annotations.NullMarked;
