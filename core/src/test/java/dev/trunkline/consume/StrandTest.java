package dev.trunkline.consume;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.testing.Seed;
import dev.trunkline.testing.TestDatabase;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class StrandTest {

    @Test
    void it_goes_on_where_the_last_owner_was_and_skips_what_was_done_beyond() {
        Strand strand = new Strand(0, new Long[] {0L, 12L}, new Long[] {10L, 14L});
        assertThat(strand.position()).isEqualTo(10);
        List<Long> admitted = new ArrayList<>();
        for (long offset = 10; offset < 16; offset++) {
            if (strand.admit(offset)) {
                admitted.add(offset);
            }
        }
        assertThat(admitted).containsExactly(10L, 11L, 14L, 15L);
        strand.complete(11);
        assertThat(strand.takeDone()).isEqualTo("{[0,10),[11,14)}");
        assertThat(strand.count()).isEqualTo(13);
        strand.complete(10);
        assertThat(strand.count()).isEqualTo(14);
        assertThat(strand.takeDone()).isEqualTo("{[0,14)}");
        assertThat(strand.undone()).isEqualTo(2);
    }

    @Test
    void a_new_one_has_done_nothing() {
        Strand strand = new Strand(3, new Long[0], new Long[0]);
        assertThat(strand.isChanged()).isFalse();
        assertThat(strand.takeDone()).isEqualTo("{}");
    }

    @Test
    void what_was_rejected_is_told_once_and_again_if_the_record_was_lost() {
        Strand strand = new Strand(0, new Long[] {0L}, new Long[] {10L});
        for (long offset = 10; offset < 20; offset++) {
            strand.admit(offset);
        }
        assertThat(strand.takeRejected()).isNull();
        strand.reject(12);
        strand.reject(10);
        strand.complete(11);
        assertThat(strand.takeDone()).isEqualTo("{[0,13)}");
        assertThat(strand.takeRejected()).isEqualTo("{[10,11),[12,13)}");
        strand.reject(14);
        strand.touch();
        assertThat(strand.takeRejected()).isEqualTo("{[10,11),[12,13),[14,15)}");
        assertThat(strand.takeRejected()).isNull();
        strand.reject(15);
        assertThat(strand.takeRejected()).isEqualTo("{[15,16)}");
    }

    @Test
    void in_whatever_order_messages_are_done_the_record_says_which() {
        long seed = Seed.next();
        Random random = new Random(seed);
        Strand strand = new Strand(0, new Long[0], new Long[0]);
        TreeSet<Long> open = new TreeSet<>();
        long next = 0;
        for (int step = 0; step < 200_000; step++) {
            if (open.size() < 500 && random.nextBoolean()) {
                assertThat(strand.admit(next)).isTrue();
                open.add(next++);
            } else if (!open.isEmpty()) {
                Long done = open.ceiling(random.nextLong(open.first(), open.last() + 1));
                open.remove(done);
                strand.complete(done);
            }
            if (step % 1_000 == 0) {
                assertThat(strand.takeDone()).as("seed %d", seed).isEqualTo(expected(open, next));
                assertThat(strand.cursor()).isEqualTo(open.isEmpty() ? next : open.first());
                assertThat(strand.undone()).isEqualTo(open.size());
            }
        }
    }

    @Test
    void what_an_owner_recorded_the_next_one_goes_on_from() {
        long seed = Seed.next();
        Random random = new Random(seed);
        TestDatabase database = TestDatabase.fresh();
        for (int round = 0; round < 50; round++) {
            Strand strand = new Strand(0, new Long[0], new Long[0]);
            TreeSet<Long> open = new TreeSet<>();
            int read = random.nextInt(200);
            for (long offset = 0; offset < read; offset++) {
                strand.admit(offset);
                if (random.nextInt(3) > 0) {
                    strand.complete(offset);
                } else {
                    open.add(offset);
                }
            }
            String done = strand.takeDone();
            Strand next = new Strand(0, bounds(database, "lower", done), bounds(database, "upper", done));
            assertThat(next.cursor()).as("seed %d: %s", seed, done).isEqualTo(strand.cursor());
            TreeSet<Long> admitted = new TreeSet<>();
            for (long offset = next.position(); offset < read; offset++) {
                if (next.admit(offset)) {
                    admitted.add(offset);
                }
            }
            assertThat(admitted).as("seed %d: %s", seed, done).isEqualTo(open);
            assertThat(next.takeDone()).as("seed %d", seed).isEqualTo(done);
        }
    }

    private static Long[] bounds(TestDatabase database, String which, String ranges) {
        return database
                .query("select " + which + "(r) from unnest(?::text::int8multirange) r order by 1", ranges)
                .stream()
                .map(Long::valueOf)
                .toArray(Long[]::new);
    }

    @Test
    void what_was_rejected_does_not_grow_with_the_log() {
        long far = Integer.MAX_VALUE - 500L;
        Strand strand = new Strand(0, new Long[] {0L, 10L}, new Long[] {9L, far});
        strand.admit(9);
        strand.reject(9);
        assertThat(strand.takeRejected()).isEqualTo("{[9,10)}");
        for (long offset = far; offset < far + 1_000; offset++) {
            strand.admit(offset);
            strand.reject(offset);
            assertThat(strand.takeRejected()).isEqualTo("{[" + offset + "," + (offset + 1) + ")}");
        }
        assertThat(strand.takeRejected()).isNull();
    }

    @Test
    void what_was_rejected_comes_again_with_what_follows_if_its_record_was_lost() {
        Strand strand = new Strand(0, new Long[0], new Long[0]);
        for (long offset = 0; offset < 3; offset++) {
            strand.admit(offset);
            strand.reject(offset);
            assertThat(strand.takeRejected()).startsWith("{[0,1)").endsWith("," + (offset + 1) + ")}");
            strand.touch();
        }
        assertThat(strand.takeRejected()).isEqualTo("{[0,1),[1,2),[2,3)}");
    }

    private static String expected(Set<Long> open, long next) {
        List<String> ranges = new ArrayList<>();
        long from = 0;
        for (long hole : open) {
            if (hole > from) {
                ranges.add("[" + from + "," + hole + ")");
            }
            from = hole + 1;
        }
        if (next > from) {
            ranges.add("[" + from + "," + next + ")");
        }
        return "{" + String.join(",", ranges) + "}";
    }
}
