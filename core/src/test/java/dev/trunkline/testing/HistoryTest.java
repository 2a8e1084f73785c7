package dev.trunkline.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.testing.History.Call;
import dev.trunkline.testing.History.Entry;
import dev.trunkline.testing.History.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The checker is worth what it catches. */
class HistoryTest {

    private final History history = new History();
    private final List<Entry> log = new ArrayList<>();

    HistoryTest() {
        history.add(new Call(List.of("a"), false, Outcome.OK, 10, 20));
        history.add(new Call(List.of("b"), false, Outcome.OK, 30, 40));
        history.add(new Call(List.of("c1", "c2", "c3"), false, Outcome.OK, 31, 50));
        history.add(new Call(List.of("failed"), false, Outcome.FAILED, 32, 33));
        history.add(new Call(List.of("u1", "u2"), false, Outcome.UNKNOWN, 34, 35));
        history.add(new Call(List.of("v"), false, Outcome.UNKNOWN, 36, 37));
        history.add(new Call(List.of("later"), true, Outcome.OK, 5, 6));
        history.add(new Call(List.of("old"), false, Outcome.OK, 1, 2));
        history.dropped(List.of("old"));
        log.add(new Entry(0, 1, "a", 1, true));
        log.add(new Entry(0, 2, "c1", 7, false));
        log.add(new Entry(0, 3, "c2", 7, true));
        log.add(new Entry(0, 4, "b", 2, true));
        log.add(new Entry(0, 5, "later", 8, true));
        log.add(new Entry(1, 0, "c3", 7, true));
        log.add(new Entry(1, 1, "u1", 10, false));
        log.add(new Entry(1, 2, "u2", 10, true));
    }

    private List<String> violations() {
        return history.violations(log, Map.of(0, 1L));
    }

    @Test
    void a_clean_log_passes() {
        assertThat(violations()).isEmpty();
    }

    @Test
    void what_is_unknown_may_be_absent_as_a_whole() {
        log.removeIf(entry -> entry.value().startsWith("u"));
        assertThat(violations()).isEmpty();
    }

    @TestFactory
    Stream<DynamicTest> each_seeded_error_is_found() {
        return Stream.of(
                seeded("lost: b", log -> {
                    log.remove(at(0, 4));
                    log.remove(at(0, 5));
                    log.add(new Entry(0, 4, "later", 8, true));
                }),
                seeded("lost: c3", log -> log.removeIf(entry -> entry.partition() == 1)),
                seeded("twice: a", log -> log.add(new Entry(0, 6, "a", 9, true))),
                seeded("twice: v", log -> {
                    log.add(new Entry(2, 0, "v", 9, true));
                    log.add(new Entry(2, 1, "v", 9, true));
                }),
                seeded("failed, and there", log -> log.add(new Entry(2, 0, "failed", 9, true))),
                seeded("never published", log -> log.add(new Entry(2, 0, "nobody's", 9, true))),
                seeded("dropped, and back", log -> log.add(new Entry(2, 0, "old", 9, true))),
                seeded("torn: [u2]", log -> {
                    log.remove(at(1, 2));
                    replace(log, new Entry(1, 1, "u1", 10, true));
                }),
                seeded("hole: 1", log -> log.remove(at(0, 1))),
                seeded(
                        "hole: 3",
                        log -> replace(log, new Entry(0, 4, "b", 2, true), new Entry(0, 3, "c2", 7, true), 9)),
                seeded("offset given twice", log -> log.add(new Entry(0, 4, "v", 9, true))),
                seeded("order: a", log -> {
                    replace(log, new Entry(0, 1, "b", 2, true));
                    replace(log, new Entry(0, 4, "a", 1, true));
                }),
                seeded("unit torn apart", log -> {
                    replace(log, new Entry(0, 3, "b", 2, true));
                    replace(log, new Entry(0, 4, "c2", 7, true));
                }),
                seeded("unit has no end", log -> replace(log, new Entry(0, 3, "c2", 7, false))),
                seeded("unit ends too early", log -> replace(log, new Entry(0, 2, "c1", 7, true))),
                seeded("unit changes", log -> replace(log, new Entry(0, 2, "c1", 6, false))));
    }

    private DynamicTest seeded(String expected, Consumer<List<Entry>> error) {
        return DynamicTest.dynamicTest(expected, () -> {
            List<Entry> broken = new ArrayList<>(log);
            error.accept(broken);
            assertThat(history.violations(broken, Map.of(0, 1L)))
                    .anySatisfy(violation -> assertThat(violation).startsWith(expected));
        });
    }

    private Entry at(int partition, long offset) {
        return log.stream()
                .filter(entry -> entry.partition() == partition && entry.offset() == offset)
                .findFirst()
                .orElseThrow();
    }

    private static void replace(List<Entry> entries, Entry replacement) {
        entries.replaceAll(
                entry -> entry.partition() == replacement.partition() && entry.offset() == replacement.offset()
                        ? replacement
                        : entry);
    }

    /** Moves an entry away from its place. */
    private static void replace(List<Entry> entries, Entry kept, Entry moved, long to) {
        entries.remove(moved);
        entries.add(new Entry(moved.partition(), to, moved.value(), moved.unit(), moved.unitEnd()));
        replace(entries, kept);
    }
}
