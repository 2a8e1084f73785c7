/**
 * Durable messaging inside PostgreSQL.
 *
 * <p>{@link dev.trunkline.Trunkline} is the way in: it opens a database, and from it come
 *
 * <ul>
 *   <li>{@link dev.trunkline.Topics}, which are made and altered by a {@link dev.trunkline.TopicConfiguration};
 *   <li>the {@link dev.trunkline.Publisher} of {@link dev.trunkline.Message}s, in a transaction of the caller's or of its own;
 *   <li>{@link dev.trunkline.ConsumerGroup}s and {@link dev.trunkline.WildcardGroup}s, whose handlers are called with each
 *       {@link dev.trunkline.Delivery}, and {@link dev.trunkline.PullConsumer}s, which fetch batches under a lease;
 *   <li>the {@link dev.trunkline.ConsumerGroupAdmin}, with the {@link dev.trunkline.DeadLetters} of groups;
 *   <li>the {@link dev.trunkline.Log}, to be read without a group.
 * </ul>
 *
 * <p>An {@link dev.trunkline.Observer} is told what happens, a {@link dev.trunkline.Codec} turns payloads into bytes and back. What goes wrong is a
 * {@link dev.trunkline.TrunklineException}.
 */
@NullMarked
package dev.trunkline;

import org.jspecify.annotations.NullMarked;
