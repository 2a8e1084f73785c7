/**
 * What keeps storage bounded and groups true: segments are opened, and dropped when their retention is over; outbox slots are cleared, old marks,
 * idempotency keys and progress forgotten; topics are matched with wildcards, and groups that nobody serves are found.
 *
 * <p>One process has the turn and does it for all, every few seconds; another takes over when that is gone. No promise rests on the turn: each step is a
 * transaction of its own that locks what it changes, is safe to repeat, may run in any process or several, and leaves what is locked for the next time. A step
 * that fails does not keep the others from being done. The steps are SQL: {@code schema/007_upkeep.sql}, {@code 004_segments.sql}, {@code 014_life.sql}.
 */
@NullMarked
package dev.trunkline.upkeep;

import org.jspecify.annotations.NullMarked;
