/**
 * The command {@code trunkline verify}: is the log whole, and does what is known of groups fit it?
 *
 * <p>It looks while others work. What is known of a topic but for its frames is looked at in one snapshot. Frames are not: a snapshot as long as it takes
 * to read a log would keep vacuum away and segments from being dropped. They need none: a segment that is not the last never changes, and in the last one
 * every look finds a beginning of what will be there. A segment that is gone when it is read is no finding, if the catalogue no longer knows it.
 */
@NullMarked
package dev.trunkline.server.verify;

import org.jspecify.annotations.NullMarked;
