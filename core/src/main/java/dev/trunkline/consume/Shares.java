package dev.trunkline.consume;

import dev.trunkline.GroupStatus;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

/**
 * Which partitions to take or to give up, by what is seen of the group. A pure function: each process applies it to its own view, and
 * together they come to a fair share without talking to each other.
 */
final class Shares {

    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private Shares() {}

    /** What is to be done first. */
    enum Step {
        /** The group is no more: all is given up. */
        STOP,
        /** What the database says and what the process believes may differ: neither may go on for long. */
        COMPARE,
        MOVE
    }

    /**
     * What to do, by what was seen.
     *
     * @param mine how many partitions this process holds, as the database says
     * @param owned how many it believes to hold
     * @param kept how many of these it does not want to give up
     * @param unsure a call has failed since they were last compared: what it did is not known
     */
    static Step step(GroupStatus status, int mine, int owned, int kept, boolean unsure) {
        if (status == GroupStatus.CANCELLED) {
            return Step.STOP;
        }
        return unsure || mine > owned || mine < kept ? Step.COMPARE : Step.MOVE;
    }

    /** From one look at the group to the next, in nanoseconds: processes should not all look at the same moment. */
    static long pause(RandomGenerator random) {
        return (long) (SECOND * random.nextDouble(0.8, 1.2));
    }

    /**
     * How many partitions to take or give.
     *
     * @param take how many free partitions to take
     * @param give whether to give one up
     */
    record Move(int take, boolean give) {
        static final Move NONE = new Move(0, false);
    }

    /**
     * Takes up to the fair share, rounded down, and one of the remainder if the others do not lack it for theirs. Gives one up only when none is
     * free, and it holds more than the share rounded up or at least two more than the one with least.
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
            int lack = Math.max(0, floor - mine);
            int othersLack = others.stream()
                    .mapToInt(other -> Math.max(0, floor - other))
                    .sum();
            boolean oneMore = mine + lack < ceil && free > lack + othersLack;
            return new Move(Math.min(free, lack) + (oneMore ? 1 : 0), false);
        }
        return !others.isEmpty() && (mine > ceil || (mine > 0 && mine >= smallest + 2)) ? new Move(0, true) : Move.NONE;
    }
}
