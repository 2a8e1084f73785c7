/**
 * Where messages wait for their offset, and the relay that gives it.
 *
 * <p>A publish in the caller's transaction is one insert into the outbox, stamped with the transaction's id. The relay
 * keeps a mark per lane: the snapshot of its last run. A run appends the rows that are visible in its snapshot and were not
 * in the mark's, so a late commit is found by its id among those then in flight, and a slow transaction delays nobody
 * else. The protocol lives in {@code schema/003_relay.sql}; here are the loop that runs it and the insert.
 *
 * <pre>
 *   publish ──insert──▶ outbox slot ──relay, under the lane's lock──▶ log
 *                          │                                        ▲
 *                          └── due later ──▶ delayed ── when due ───┘
 * </pre>
 */
@NullMarked
package dev.trunkline.outbox;

import org.jspecify.annotations.NullMarked;
