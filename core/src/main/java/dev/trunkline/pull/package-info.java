/**
 * Pulling: batches under a lease instead of handlers. The protocol is SQL, {@code schema/012_pull.sql}; this is its caller. A popped batch is
 * the owner of its partition, under an epoch of its own; pop and everything that settles a batch lock the holder's row, so that either the
 * one or its successor wins.
 */
@NullMarked
package dev.trunkline.pull;

import org.jspecify.annotations.NullMarked;
