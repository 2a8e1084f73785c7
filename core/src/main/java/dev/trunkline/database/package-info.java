/**
 * Speaking to PostgreSQL: connections, named statements out of {@code .sql} files, and what an error means.
 *
 * <p>Every statement that gives offsets is one call in autocommit mode: the append lock is never held across a round
 * trip. An error is definite (nothing was written), passing (try again), or unknown (the reply to the commit was lost);
 * {@link dev.trunkline.database.Failure} is the only place that decides which.
 */
@NullMarked
package dev.trunkline.database;

import org.jspecify.annotations.NullMarked;
