package dev.trunkline.checker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.checker.Event.Outcome;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A long history, of as many messages as the property {@code checker.messages} says. */
class CheckerSizeTest {

    private static final int MESSAGES = Integer.getInteger("checker.messages", 50_000);
    private static final List<String> GROUPS = List.of("a", "b", "c");
    private static final int PARTITIONS = 16;
    private static final int KEYS = 1_000;
    private static final int CHUNK = 500;

    @TempDir
    Path directory;

    @Test
    void a_long_history_is_read_whole() throws IOException {
        try (Journal publisher = Journal.create(directory, "publisher");
                Journal consumer = Journal.create(directory, "consumer")) {
            long[] ends = new long[PARTITIONS];
            for (int first = 0; first < MESSAGES; first += CHUNK) {
                write(publisher, consumer, ends, first);
            }
        }
        long began = System.nanoTime();
        Verdict verdict = Checker.check(directory, Limits.standard());
        System.out.printf(
                "checked %,d messages of %d groups in %.1f s%n",
                MESSAGES, GROUPS.size(), (System.nanoTime() - began) / 1e9);
        assertThat(verdict.told()).isEmpty();
        assertThat(verdict.figures().acknowledged()).isEqualTo(MESSAGES);
        assertThat(verdict.figures().handled()).isEqualTo((long) MESSAGES * GROUPS.size());
        assertThat(verdict.figures().effects()).isEqualTo(MESSAGES);
    }

    private static void write(Journal publisher, Journal consumer, long[] ends, int first) {
        List<Event> published = new ArrayList<>();
        List<Event> consumed = new ArrayList<>();
        for (int i = first; i < Math.min(first + CHUNK, MESSAGES); i++) {
            long time = 10_000L * i;
            String value = "value-" + i;
            String key = "key-" + i % KEYS;
            int partition = i % KEYS % PARTITIONS;
            long offset = ends[partition]++;
            published.add(new Event.Publish(time, "p" + i, "t", key, value, Event.Way.PUBLISH));
            published.add(new Event.End(time + 10, "p" + i, Outcome.OK));
            published.add(new Event.Logged(Long.MAX_VALUE, "t", partition, offset, key, value));
            for (String group : GROUPS) {
                String call = group + i;
                consumed.add(new Event.Start(time + 100, call, group, "m", 1, "t", partition, offset, key, value));
                consumed.add(new Event.End(time + 200, call, Outcome.OK));
            }
            consumed.add(new Event.Effect(time + 300, GROUPS.getFirst(), "t", partition, offset, 1, value));
        }
        publisher.write(published);
        consumer.write(consumed);
    }
}
