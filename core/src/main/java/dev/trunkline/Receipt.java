package dev.trunkline;

import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * What is known of a message when {@code publish} returns. The id is always known and never given twice in an
 * installation. Partition and offset are known when the message went straight into the log; otherwise the relay gives
 * the offset within milliseconds of the commit, or when the message is due.
 *
 * @param topic the topic it was published to
 * @param id the message's id, or that of the first message with the same idempotency key
 * @param partition where it lies in the log, if known
 * @param offset where it lies in its partition, if known
 * @param duplicate an earlier message holds its idempotency key, and this one was not added
 */
public record Receipt(String topic, long id, OptionalInt partition, OptionalLong offset, boolean duplicate) {}
