package dev.trunkline.consume;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.LogMessage;
import dev.trunkline.testing.LogMessages;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Reading on while what was read is handed out: over a log without end, ten messages at a time. */
class ReadAheadTest {

    private static final int MOST = 10;

    private final AtomicBoolean fails = new AtomicBoolean();
    private final ReadAhead reading = new ReadAhead(this::log);

    private Map<Integer, List<LogMessage>> log(int[] strands, long[] positions, int most) {
        if (fails.getAndSet(false)) {
            throw new IllegalStateException("the log can not be read");
        }
        Map<Integer, List<LogMessage>> found = new HashMap<>();
        for (int i = 0; i < strands.length; i++) {
            found.put(
                    strands[i],
                    LongStream.range(positions[i], positions[i] + most)
                            .mapToObj(ReadAheadTest::message)
                            .toList());
        }
        return found;
    }

    private List<Long> offsets(int strand, long position) {
        return reading.read(new int[] {strand}, new long[] {position}, MOST).getOrDefault(strand, List.of()).stream()
                .map(LogMessage::offset)
                .toList();
    }

    private static List<Long> tenFrom(long position) {
        return LongStream.range(position, position + MOST).boxed().toList();
    }

    @Test
    void every_read_brings_what_was_asked_for_also_if_a_strand_is_left_out_for_a_while() {
        assertThat(offsets(0, 0)).isEqualTo(tenFrom(0));
        assertThat(offsets(0, 10)).isEqualTo(tenFrom(10));
        assertThat(offsets(1, 0)).isEqualTo(tenFrom(0));
        assertThat(offsets(0, 20)).isEqualTo(tenFrom(20));
        assertThat(offsets(1, 10)).isEqualTo(tenFrom(10));
    }

    @Test
    void what_was_read_ahead_is_of_no_use_at_another_position() {
        assertThat(offsets(0, 0)).isEqualTo(tenFrom(0));
        assertThat(offsets(0, 3)).isEqualTo(tenFrom(3));
        assertThat(offsets(0, 100)).isEqualTo(tenFrom(100));
    }

    @Test
    void what_could_not_be_read_ahead_is_read_when_it_is_asked_for() {
        fails.set(true);
        ReadAhead failsOnce = new ReadAhead((strands, positions, most) ->
                positions[0] > 0 ? log(strands, positions, most) : Map.of(0, List.of(message(0))));
        assertThat(failsOnce.read(new int[] {0}, new long[] {0}, 1)).containsOnlyKeys(0);
        assertThat(failsOnce.read(new int[] {0}, new long[] {1}, 1).getOrDefault(0, List.of()))
                .extracting(LogMessage::offset)
                .containsExactly(1L);
        assertThat(fails).isFalse();
    }

    @Test
    void a_strand_without_end_does_not_keep_another_from_being_read() {
        long[] ends = {Long.MAX_VALUE, 1};
        ReadAhead both = new ReadAhead((strands, positions, most) -> {
            Map<Integer, List<LogMessage>> found = new HashMap<>();
            for (int i = 0; i < strands.length; i++) {
                long to = Math.min(positions[i] + most, ends[strands[i]]);
                if (to > positions[i]) {
                    found.put(
                            strands[i],
                            LongStream.range(positions[i], to)
                                    .mapToObj(ReadAheadTest::message)
                                    .toList());
                }
            }
            return found;
        });
        long[] positions = new long[2];
        for (int i = 0; i < 10; i++) {
            both.read(new int[] {0, 1}, positions.clone(), MOST)
                    .forEach((strand, messages) -> positions[strand] += messages.size());
            ends[1] = 2;
        }
        assertThat(positions).containsExactly(10L * MOST, 2);
    }

    private static LogMessage message(long offset) {
        return LogMessages.at(offset, "k");
    }
}
