/**
 * What keeps storage bounded: segments are closed and dropped, outbox slots cleared, old marks and keys forgotten. Each
 * step is safe to repeat and may run in any process.
 */
@NullMarked
package dev.trunkline.upkeep;

import org.jspecify.annotations.NullMarked;
