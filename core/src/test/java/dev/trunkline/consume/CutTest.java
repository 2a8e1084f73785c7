package dev.trunkline.consume;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.Batching;
import dev.trunkline.LogMessage;
import dev.trunkline.testing.LogMessages;
import dev.trunkline.testing.Seed;
import java.util.ArrayDeque;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CutTest {

    private final Strand strand = new Strand(0, new Long[0], new Long[0]);

    /** A message is a dot, the last one of a unit of work a bar, a suspect one in capitals: o and b. */
    @ParameterizedTest
    @CsvSource({
        "KEY, 1, 100, '', 0",
        "KEY, 1, 100, '||', 2",
        "KEY, 5, 100, '|||||||', 5",
        "KEY, 5, 100, '..', 2",
        "PARTITION, 3, 100, '....', 3",
        "WORK, 3, 100, '..', 0",
        "WORK, 3, 100, '..|', 3",
        "WORK, 3, 100, '|..|', 1",
        "WORK, 4, 100, '|..|', 4",
        "WORK, 3, 100, '.....|.|', 6",
        "WORK, 3, 5, '.....|', 0",
        "WORK, 3, 5, '....|', 5",
        "KEY, 5, 100, 'bbb', 1",
        "KEY, 5, 100, '||b', 2",
        "WORK, 5, 100, 'oob|', 3",
        "WORK, 9, 100, '.|oob|', 2",
    })
    void so_many_are_taken(Batching.Unit unit, int size, int limit, String run, int expected) {
        Cut cut = new Cut(new Batching(unit, size, limit), true);
        ArrayDeque<Run.Item> front = front(run);
        assertThat(cut.take(front)).isEqualTo(expected);
    }

    /** Whatever the run is like, it is cut at ends of units only, no sooner than need be, and a suspect unit is alone. */
    @Test
    void any_run_is_cut_between_units() {
        long seed = Seed.next();
        Random random = new Random(seed);
        for (int round = 0; round < 20_000; round++) {
            StringBuilder run = new StringBuilder();
            int length = random.nextInt(12);
            for (int i = 0; i < length; i++) {
                run.append(".|.|.|ob".charAt(random.nextInt(8)));
            }
            Batching.Unit unit = random.nextBoolean() ? Batching.Unit.WORK : Batching.Unit.PARTITION;
            int size = 1 + random.nextInt(6);
            int limit = size + random.nextInt(6);
            CutTest fresh = new CutTest();
            int taken = new Cut(new Batching(unit, size, limit), true).take(fresh.front(run.toString()));
            assertThat(taken)
                    .as("seed %d: %s, %d to %d of \"%s\"", seed, unit, size, limit, run)
                    .isEqualTo(expected(unit == Batching.Unit.WORK, size, limit, run.toString()));
        }
    }

    private static int expected(boolean work, int size, int limit, String run) {
        int taken = 0;
        boolean suspect = false;
        int from = 0;
        while (from < run.length()) {
            int to = from;
            while (to < run.length() && work && ".o".indexOf(run.charAt(to)) >= 0) {
                to++;
            }
            to++;
            if (to > run.length() || (taken == 0 && to > limit)) {
                return taken;
            }
            String next = run.substring(from, to);
            boolean nextSuspect = next.chars().anyMatch(Character::isLetter);
            if (taken > 0 && (suspect || nextSuspect || to > size)) {
                return taken;
            }
            taken = to;
            suspect = nextSuspect;
            from = to;
        }
        return taken;
    }

    private ArrayDeque<Run.Item> front(String run) {
        ArrayDeque<Run.Item> front = new ArrayDeque<>();
        for (int offset = 0; offset < run.length(); offset++) {
            char c = run.charAt(offset);
            if (Character.isLetter(c)) {
                strand.suspect(offset, false);
            }
            front.add(item(offset, c == '|' || c == 'b'));
        }
        return front;
    }

    private Run.Item item(long offset, boolean unitEnd) {
        LogMessage message = LogMessages.at(offset, "k", unitEnd, 0);
        return new Run.Item(message, strand, 0, false);
    }
}
