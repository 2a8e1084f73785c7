/**
 * Durable messaging inside PostgreSQL.
 *
 * <p>{@link dev.trunkline.Trunkline} is the way in: it opens a database, and from it come {@link dev.trunkline.Topics},
 * {@link dev.trunkline.Publisher} and {@link dev.trunkline.Log}.
 */
@NullMarked
package dev.trunkline;

import org.jspecify.annotations.NullMarked;
