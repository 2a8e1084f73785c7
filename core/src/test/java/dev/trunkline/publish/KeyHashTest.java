package dev.trunkline.publish;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.testing.Seed;
import dev.trunkline.testing.TestDatabase;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The library places keys where the database does: else the order of a key would depend on the way it was published. */
class KeyHashTest {

    private static final int PARTITIONS = 1 << 30;

    @ParameterizedTest
    @ValueSource(ints = {15, 16, 17, 18})
    void the_library_and_the_database_agree_on_every_key(int major) {
        long seed = Seed.next();
        TestDatabase database = TestDatabase.fresh(major);
        database.open().close();
        List<String> keys = keys(new Random(seed));
        List<String> there = database.query(
                "select trunkline.partition_of(k, ?) from unnest(?::text[]) with ordinality u (k, n) order by n",
                PARTITIONS,
                keys.toArray(String[]::new));
        List<String> here = keys.stream()
                .map(key -> Integer.toString(KeyHash.partitionOf(key, PARTITIONS)))
                .toList();
        assertThat(here).as("seed %d", seed).isEqualTo(there);
    }

    private static List<String> keys(Random random) {
        List<String> keys = new ArrayList<>(List.of("", "é", "日本語", "\uD83D\uDE80", "a\tb\nc", "{\"x\":1}"));
        for (int length = 0; length <= 40; length++) {
            char[] letters = new char[length];
            Arrays.fill(letters, 'a');
            keys.add(new String(letters));
        }
        for (int i = 0; i < 2_000; i++) {
            StringBuilder key = new StringBuilder();
            random.ints(random.nextInt(60), 1, 0x2000).forEach(key::appendCodePoint);
            keys.add(key.toString());
        }
        return keys;
    }
}
