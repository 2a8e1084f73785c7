package dev.trunkline.consume;

import dev.trunkline.Batching;
import dev.trunkline.LogMessage;
import dev.trunkline.consume.Run.Item;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How messages are cut into runs, and runs into what is handled at once. */
final class Cut {

    private static final int MOST_AT_ONCE = 32;
    private static final String WHOLE_STRAND = "";

    private final Batching batching;
    private final boolean ordered;

    Cut(Batching batching, boolean ordered) {
        this.batching = batching;
        this.ordered = ordered;
    }

    /** The run of a strand that a message belongs to; null: one of its own. */
    @Nullable
    String runOf(LogMessage message) {
        if (batching.unit() != Batching.Unit.KEY) {
            return WHOLE_STRAND;
        }
        return ordered ? message.key() : null;
    }

    /** How many messages a unit of work has at most. */
    int longest() {
        return batching.limit();
    }

    /** Whether runs are keys, which can be parked. */
    boolean parks() {
        return ordered && batching.unit() == Batching.Unit.KEY;
    }

    /** Whether units of work are kept together. */
    boolean isWork() {
        return batching.unit() == Batching.Unit.WORK;
    }

    /** Whether a message may be the last one of what is handled at once. */
    boolean mayEnd(LogMessage message) {
        return !isWork() || message.unitEnd();
    }

    boolean isSingle() {
        return batching.isSingle();
    }

    /** How many messages to take from the front of a run; none if its first unit of work is not there as a whole, or too long. */
    int take(Deque<Item> front) {
        int most = batching.isSingle() ? MOST_AT_ONCE : batching.size();
        if (batching.isSingle() && (front.isEmpty() || !front.getFirst().strand.hasSuspects())) {
            return Math.min(front.size(), most);
        }
        int count = 0;
        int whole = 0;
        boolean suspect = false;
        Item last = null;
        for (Item item : front) {
            if (last != null && isTorn(last, item)) {
                whole = count;
            }
            last = item;
            boolean enough = whole > 0 && (count >= most || suspect || item.isSuspect());
            if (enough || (whole == 0 && count >= batching.limit())) {
                break;
            }
            suspect |= item.isSuspect();
            count++;
            if (mayEnd(item.message)) {
                whole = count;
            }
        }
        boolean isAll = last != null && last.parked && count < batching.limit();
        return whole == 0 && isAll ? count : whole;
    }

    /** Whether what is parked of a unit of work ends between two messages, though the unit does not: somebody has redriven a part of it. */
    private boolean isTorn(Item item, Item next) {
        return isWork() && item.parked && item.message.unit() != next.message.unit();
    }

    /** Whether the first unit of work is longer than allowed. */
    boolean isTooLong(Deque<Item> front) {
        return isWork() && front.size() >= batching.limit() && take(front) == 0;
    }

    /** Whether more must be read for the first unit of work, however much is there. */
    boolean wantsMore(Deque<Item> front) {
        return isWork() && !front.isEmpty() && front.size() < batching.limit() && take(front) == 0;
    }

    /** Cuts what is handled at once into its units. */
    List<List<Item>> units(List<Item> items) {
        List<List<Item>> units = new ArrayList<>();
        List<Item> unit = new ArrayList<>();
        for (Item item : items) {
            if (!unit.isEmpty() && (mayEnd(unit.getLast().message) || isTorn(unit.getLast(), item))) {
                units.add(unit);
                unit = new ArrayList<>();
            }
            unit.add(item);
        }
        units.add(unit);
        return units;
    }
}
