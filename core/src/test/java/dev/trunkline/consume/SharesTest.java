package dev.trunkline.consume;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.testing.Seed;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The decision which partitions to take or give up, as a table and as a simulated crowd. */
class SharesTest {

    @ParameterizedTest(name = "{0} partitions, mine {1}, others {2}: take {3}, give {4}")
    @CsvSource({
        // alone: everything
        "16, 0, '', 16, false",
        "16, 10, '', 6, false",
        "16, 16, '', 0, false",
        // two: half each
        "16, 0, '0', 8, false",
        "16, 8, '0', 0, false",
        "16, 16, '0', 0, true",
        "16, 8, '8', 0, false",
        // one is free, and it is for whoever holds least
        "3, 1, '1', 1, false",
        "3, 2, '0', 0, false",
        // or for whoever has its share, if those that lack something do not need it
        "5, 2, '1', 1, false",
        "17, 6, '5', 3, false",
        "17, 8, '5', 1, false",
        "17, 8, '1,1', 0, false",
        // a newcomer finds nothing free and waits for others to give
        "16, 0, '8,8', 0, false",
        "16, 8, '8,0', 0, true",
        "16, 6, '5,5', 0, false",
        // more members than partitions: the surplus waits
        "2, 0, '1,1', 0, false",
        "2, 1, '1,0', 0, false",
        "2, 2, '0', 0, true",
        // what the dead held counts as free once their session is ended
        "16, 8, '', 8, false",
    })
    void a_member_decides(int partitions, int mine, String others, int take, boolean give) {
        List<Integer> held = new ArrayList<>();
        for (String count : others.split(",", -1)) {
            if (!count.isEmpty()) {
                held.add(Integer.parseInt(count));
            }
        }
        assertThat(Shares.decide(partitions, mine, held)).isEqualTo(new Shares.Move(take, give));
    }

    @Test
    void a_crowd_that_joins_and_dies_comes_to_a_fair_share_and_rests() {
        long seed = Seed.next();
        for (int run = 0; run < 2_000; run++) {
            Random random = new Random(seed + run);
            int partitions = 1 + random.nextInt(40);
            List<Integer> counts = new ArrayList<>();
            for (int change = 0; change < 6; change++) {
                if (counts.isEmpty() || random.nextInt(3) > 0) {
                    counts.add(0);
                } else {
                    counts.remove(/* index */ random.nextInt(counts.size()));
                }
                settle(counts, partitions, random, random.nextInt(20));
            }
            if (counts.isEmpty()) {
                continue;
            }
            settle(counts, partitions, random, 4 * partitions + 20);
            assertThat(counts.stream().mapToInt(Integer::intValue).sum())
                    .as("seed %d: %s of %d", seed + run, counts, partitions)
                    .isEqualTo(partitions);
            assertThat(Collections.max(counts) - Collections.min(counts))
                    .as("seed %d: %s of %d", seed + run, counts, partitions)
                    .isLessThanOrEqualTo(1);
            List<Integer> settled = List.copyOf(counts);
            settle(counts, partitions, random, 3);
            assertThat(counts).as("seed %d", seed + run).isEqualTo(settled);
        }
    }

    /** Members act in turns of random order, each on what it sees at that moment. */
    private static void settle(List<Integer> counts, int partitions, Random random, int rounds) {
        for (int round = 0; round < rounds; round++) {
            List<Integer> order = new ArrayList<>();
            for (int i = 0; i < counts.size(); i++) {
                order.add(i);
            }
            Collections.shuffle(order, random);
            for (int member : order) {
                List<Integer> others = new ArrayList<>(counts);
                int mine = others.remove(/* index */ member);
                Shares.Move move = Shares.decide(partitions, mine, others);
                int free =
                        partitions - counts.stream().mapToInt(Integer::intValue).sum();
                counts.set(member, mine + Math.min(move.take(), free) - (move.give() ? 1 : 0));
            }
        }
    }
}
