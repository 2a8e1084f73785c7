package dev.trunkline.checker;

import dev.trunkline.checker.History.Fault;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** All faults, by when they began. */
final class Faults {

    private final List<Fault> all = new ArrayList<>();
    /** The latest end of any up to each. */
    private long[] ends = {};

    void add(Fault fault) {
        all.add(fault);
    }

    int size() {
        return all.size();
    }

    Fault get(int number) {
        return all.get(number);
    }

    /** When all have been added and have ended. */
    void sort() {
        all.sort(Comparator.comparingLong(fault -> fault.began));
        ends = new long[all.size()];
        long end = Long.MIN_VALUE;
        for (int i = 0; i < ends.length; i++) {
            end = Math.max(end, all.get(i).ended);
            ends[i] = end;
        }
    }

    /** The last one that had begun at a time, -1 if none had. */
    int lastBy(long time) {
        int low = 0;
        int high = all.size();
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (all.get(middle).began <= time) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low - 1;
    }

    /** When the last of those up to this one had ended. */
    long endOfAllUpTo(int number) {
        return ends[number];
    }
}
