package dev.trunkline.consume;

import java.util.List;

/**
 * Which partitions to take or to give up, by what is seen of the group. A pure function: each process applies it to its own view, and
 * together they come to a fair share without talking to each other.
 */
final class Shares {

    private Shares() {}

    /**
     * What to do now.
     *
     * @param take how many free partitions to take
     * @param give whether to give one up
     */
    record Move(int take, boolean give) {
        static final Move NONE = new Move(0, false);
    }

    /**
     * Takes up to the fair share, rounded down; the remainder goes to whoever holds least. Gives one up only when none is free, and
     * it holds more than the share rounded up or at least two more than the one with least.
     *
     * @param partitions how many the topic has
     * @param mine how many this process holds
     * @param others how many each other live process of the group holds
     */
    static Move decide(int partitions, int mine, List<Integer> others) {
        int members = others.size() + 1;
        int held = mine + others.stream().mapToInt(Integer::intValue).sum();
        int free = Math.max(0, partitions - held);
        int floor = partitions / members;
        int ceil = (partitions + members - 1) / members;
        int smallest = others.stream().mapToInt(Integer::intValue).min().orElse(Integer.MAX_VALUE);
        if (free > 0) {
            if (mine < floor) {
                return new Move(Math.min(free, floor - mine), false);
            }
            return mine < ceil && mine <= smallest ? new Move(1, false) : Move.NONE;
        }
        return !others.isEmpty() && (mine > ceil || (mine > 0 && mine >= smallest + 2)) ? new Move(0, true) : Move.NONE;
    }
}
