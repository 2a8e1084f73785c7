package dev.trunkline.consume;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.Batching;
import dev.trunkline.LogMessage;
import dev.trunkline.Priority;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Map;
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
        LogMessage message = new LogMessage(
                "t",
                0,
                Priority.NORMAL,
                offset,
                offset,
                offset,
                unitEnd,
                "k",
                Map.of(),
                "text/plain",
                null,
                Instant.EPOCH,
                Instant.EPOCH,
                new byte[0]);
        return new Run.Item(message, strand, 0, false);
    }
}
