package dev.trunkline.consume;

import dev.trunkline.Priority;
import dev.trunkline.log.Levels;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Runs that may be handled, by priority level, and before all of them one that is to be handled alone. Of ten choices six go to the highest level first, three to the normal one, and one to the lowest. */
final class Ready {

    private static final int NORMAL = Levels.of(Priority.NORMAL);
    private static final int HIGH = Levels.of(Priority.HIGH);
    private static final int LOW = Levels.of(Priority.LOW);
    private static final int[] CHOICES = {HIGH, HIGH, NORMAL, HIGH, HIGH, NORMAL, HIGH, LOW, HIGH, NORMAL};
    /** What is tried, by the level that is first. */
    private static final int[][] ORDERS = {{NORMAL, HIGH, LOW}, {HIGH, NORMAL, LOW}, {LOW, HIGH, NORMAL}};

    private final int partitions;
    private final ArrayDeque<Run> alone = new ArrayDeque<>(1);
    private final List<ArrayDeque<Run>> levels = new ArrayList<>();
    private int choice;

    Ready(int partitions, int levels) {
        this.partitions = partitions;
        for (int level = 0; level < levels; level++) {
            this.levels.add(new ArrayDeque<>());
        }
    }

    void add(Run run) {
        levels.get(run.strand.number() / partitions).add(run);
    }

    void addAlone(Run run) {
        alone.add(run);
    }

    /** Takes the one that is to be handled alone. */
    @Nullable
    Run pollAlone() {
        return alone.poll();
    }

    @Nullable
    Run poll() {
        if (!alone.isEmpty()) {
            return alone.poll();
        }
        if (levels.size() == 1) {
            return levels.getFirst().poll();
        }
        choice = (choice + 1) % CHOICES.length;
        for (int level : ORDERS[CHOICES[choice]]) {
            Run run = levels.get(level).poll();
            if (run != null) {
                return run;
            }
        }
        return null;
    }

    int size() {
        int size = alone.size();
        for (ArrayDeque<Run> level : levels) {
            size += level.size();
        }
        return size;
    }

    void removeIf(Predicate<Run> condition, Consumer<Run> action) {
        removeIf(alone, condition, action);
        levels.forEach(level -> removeIf(level, condition, action));
    }

    private static void removeIf(ArrayDeque<Run> runs, Predicate<Run> condition, Consumer<Run> action) {
        runs.removeIf(run -> {
            boolean gone = condition.test(run);
            if (gone) {
                action.accept(run);
            }
            return gone;
        });
    }
}
