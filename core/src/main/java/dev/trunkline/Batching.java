package dev.trunkline;

/**
 * How many messages one transaction of a transactional consumer takes. A transaction that fails is run again with a savepoint before
 * each unit: what comes before the failed one is committed, and one that has had its last attempt goes to the dead letters while the rest
 * goes on; in batches of a key the rest waits for it, if the retry policy says so.
 *
 * @param unit what is never split
 * @param size how many messages a transaction takes at most; a unit of work may be longer
 * @param limit the longest unit of work, in messages; a longer one stops its partition, with an error
 */
public record Batching(Unit unit, int size, int limit) {

    private static final int DEFAULT_LIMIT = 10_000;
    private static final int MOST = 10_000;

    /** What is never split. */
    public enum Unit {
        /** A message. Each key runs on its own, messages of a transaction belong to one key. */
        KEY,
        /** A message. Each partition runs on its own, messages of a transaction belong to one partition. */
        PARTITION,
        /** What one publisher's transaction wrote to a partition. Each partition runs on its own. */
        WORK
    }

    /** Every message in a transaction of its own. */
    public static Batching single() {
        return new Batching(Unit.KEY, 1, DEFAULT_LIMIT);
    }

    /** Up to so many messages of one key. */
    public static Batching ofKey(int size) {
        return new Batching(Unit.KEY, size, DEFAULT_LIMIT);
    }

    /** Up to so many messages of one partition. */
    public static Batching ofPartition(int size) {
        return new Batching(Unit.PARTITION, size, DEFAULT_LIMIT);
    }

    /** Whole units of work, as many as make up to so many messages, at least one. */
    public static Batching ofUnitsOfWork(int size) {
        return new Batching(Unit.WORK, size, DEFAULT_LIMIT);
    }

    public Batching {
        if (size < 1 || size > MOST) {
            throw new IllegalArgumentException("a batch of " + size + " messages is not within 1 to " + MOST);
        }
        if (limit < size || limit > 100_000) {
            throw new IllegalArgumentException("a unit of at most " + limit
                    + " messages is not within the size of a batch, " + size + ", and 100000");
        }
    }

    public Batching withLimit(int newLimit) {
        return new Batching(unit, size, newLimit);
    }

    /** Whether it is every message on its own. */
    public boolean isSingle() {
        return unit == Unit.KEY && size == 1;
    }
}
