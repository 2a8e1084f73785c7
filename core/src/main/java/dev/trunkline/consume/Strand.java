package dev.trunkline.consume;

import dev.trunkline.LogMessage;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How far a group is in one partition at one priority level. Below the cursor all is done; from there to the position, which was
 * read, some is. Not thread-safe: its group's lock guards it.
 */
final class Strand {

    private static final int SHIFT_AT = 1 << 14;
    /** How far behind its last record an owner may begin, if its window is not longer. */
    private static final int REACH = 2_000;

    private final int number;
    private BitSet done = new BitSet();
    private long base;
    private long cursor;
    private long position;
    /** How many messages were read and are not done. */
    private int undone;

    private long sequence;
    private boolean changed;
    /** Behind the last message that is recorded as done. Who records is another thread. */
    private volatile long recorded;

    private boolean halted;
    private final Map<Long, Integer> attempts = new HashMap<>();
    /** By key; messages without a key have runs of their own and are not in here. */
    final Map<String, Run> runs = new HashMap<>();
    /** What is parked and need not wait for a key. */
    @Nullable
    Run keyless;

    /** Offsets that were not for the group and are to be recorded as that, from {@link #rejectedFrom} on. */
    private final BitSet rejected = new BitSet();

    private long rejectedFrom;
    /** Ranges of those that are to be recorded once more; and of those that were, last. */
    private String rejectedAgain = "";

    private String rejectedLast = "";

    /** What lies before this offset was there when the group began. */
    private long history;

    /** The keys that the group wants, and from which offset on; null: all. */
    private @Nullable Map<String, Long> wanted;

    private boolean orphaned;
    /** Messages before this one may have been under way when a process died. */
    private long suspectsBefore;

    /** Messages that were under way when a second process died; true: and nothing else was. */
    private final Map<Long, Boolean> primeSuspects = new HashMap<>();

    /** @param lowers and uppers of the ranges that are done, in order */
    Strand(int number, Long[] lowers, Long[] uppers) {
        this.number = number;
        if (lowers.length > 0 && lowers[0] == 0) {
            base = uppers[0];
        }
        cursor = base;
        position = base;
        for (int i = base == 0 ? 0 : 1; i < lowers.length; i++) {
            done.set(Math.toIntExact(lowers[i] - base), Math.toIntExact(uppers[i] - base));
        }
        recorded = top();
    }

    int number() {
        return number;
    }

    long position() {
        return position;
    }

    /** Reads the next message. Whether it is still to be done. */
    boolean admit(long offset) {
        position = offset + 1;
        if (isDone(offset)) {
            return false;
        }
        undone++;
        return true;
    }

    long cursor() {
        return cursor;
    }

    int undone() {
        return undone;
    }

    /** Behind the last message that is done. */
    long top() {
        return Math.max(cursor, base + done.length());
    }

    /** All that was done below that is recorded. */
    void recorded(long top) {
        recorded = top;
    }

    /**
     * Whether so many more messages may be begun. If its owner dies, its successor knows by what is recorded which ones it can have begun.
     *
     * @param window how many messages may be read ahead
     */
    boolean reaches(int more, int window) {
        return position + more <= recorded + reach(window);
    }

    /** Whether soon nothing more may be begun, because of what is done and not recorded. */
    boolean shouldBeRecorded(int window) {
        return top() - recorded >= reach(window) / 2;
    }

    private static int reach(int window) {
        return Math.max(window, REACH);
    }

    /** How many messages are done, those that were passed over included. */
    long count() {
        return base + done.cardinality();
    }

    private boolean isDone(long offset) {
        return offset < cursor || done.get((int) (offset - base));
    }

    void complete(long offset) {
        changed = true;
        undone--;
        done.set((int) (offset - base));
        if (offset == cursor) {
            cursor = base + done.nextClearBit((int) (cursor - base));
            if (cursor - base > SHIFT_AT) {
                done = done.get((int) (cursor - base), done.length());
                base = cursor;
            }
        }
    }

    /** As {@link #complete}, of a message that was not for the group, which is to be recorded. */
    void reject(long offset) {
        if (rejected.isEmpty()) {
            rejectedFrom = base;
        }
        rejected.set((int) (offset - rejectedFrom));
        complete(offset);
    }

    /** The number of the next record of this strand. */
    long nextSequence() {
        return ++sequence;
    }

    boolean isChanged() {
        return changed;
    }

    /** Records may have been lost: what is done must be recorded again. */
    void touch() {
        changed = true;
        rejectedAgain = rejectedLast;
    }

    /** What is done, as a multirange; from now on it counts as recorded. */
    String takeDone() {
        changed = false;
        StringBuilder ranges = new StringBuilder("{");
        if (cursor > 0) {
            ranges.append("[0,").append(cursor).append(')');
        }
        return append(ranges, done, (int) (cursor - base), base);
    }

    /** What was rejected since this was last asked, as a multirange; null: nothing. */
    @Nullable
    String takeRejected() {
        String all = append(new StringBuilder("{").append(rejectedAgain), rejected, 0, rejectedFrom);
        rejected.clear();
        rejectedAgain = "";
        rejectedLast = all.substring(1, all.length() - 1);
        return rejectedLast.isEmpty() ? null : all;
    }

    private static String append(StringBuilder ranges, BitSet offsets, int first, long base) {
        int from = offsets.nextSetBit(first);
        while (from >= 0) {
            int to = offsets.nextClearBit(from);
            ranges.append(ranges.length() > 1 ? "," : "");
            ranges.append('[').append(base + from).append(',').append(base + to).append(')');
            from = offsets.nextSetBit(to);
        }
        return ranges.append('}').toString();
    }

    void history(long end) {
        history = end;
    }

    /** Whether the next message to read was there when the group began. */
    boolean isInHistory() {
        return position < history;
    }

    /** Keys that are wanted are to be named. */
    void wantNothing() {
        wanted = new HashMap<>();
    }

    void want(String key, long from) {
        Objects.requireNonNull(wanted, "all is wanted").put(key, from);
    }

    /** Whether a message is for the group. */
    boolean wants(LogMessage message) {
        if (wanted == null) {
            return true;
        }
        Long from = message.key() == null ? null : wanted.get(message.key());
        return from != null && message.offset() >= from;
    }

    /** Nothing more is to be read. */
    void halt() {
        halted = true;
    }

    boolean isHalted() {
        return halted;
    }

    /** Its last owner died: what it may have begun is suspect. */
    void orphan(int window) {
        orphaned = true;
        suspectsBefore = top() + reach(window);
    }

    /** Its last owner can not have begun from here on. */
    void acquitFrom(long offset) {
        suspectsBefore = Math.min(suspectsBefore, offset);
    }

    boolean isOrphaned() {
        return orphaned;
    }

    /** Whether all of the log that was suspect then is done. */
    boolean isWorkedOff() {
        return cursor >= suspectsBefore;
    }

    /** Whether any message of it can be suspect. */
    boolean hasSuspects() {
        return isOrphaned() || !primeSuspects.isEmpty();
    }

    boolean suspects(long offset) {
        return offset < suspectsBefore || primeSuspects.containsKey(offset);
    }

    void suspect(long offset, boolean diedAlone) {
        primeSuspects.put(offset, diedAlone);
    }

    /** Whether a process died over it twice: it runs alone now. */
    boolean mustRunAlone(long offset) {
        return primeSuspects.containsKey(offset);
    }

    /** Whether a process died over it when it ran alone. */
    boolean isCondemned(long offset) {
        return primeSuspects.getOrDefault(offset, false);
    }

    void clear(long offset) {
        primeSuspects.remove(offset);
    }

    void remember(long offset, int failures) {
        attempts.put(offset, failures);
    }

    /** How often a message has failed before this process read it. */
    int failures(long offset) {
        return attempts.isEmpty() ? 0 : attempts.getOrDefault(offset, 0);
    }
}
