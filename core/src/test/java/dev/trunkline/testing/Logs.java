package dev.trunkline.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.LogMessage;
import dev.trunkline.Trunkline;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The whole log of a topic, read through the public API. */
public final class Logs {

    private Logs() {}

    /** Everything in the log, by partition, in order. Holes are errors of the reader itself. */
    public static List<LogMessage> all(Trunkline trunkline, String topic) {
        var tail = trunkline.log().fromBeginning(topic);
        Map<String, List<LogMessage>> strands = new TreeMap<>();
        try {
            for (List<LogMessage> batch = tail.poll(Duration.ZERO);
                    !batch.isEmpty();
                    batch = tail.poll(Duration.ZERO)) {
                batch.forEach(message -> strands.computeIfAbsent(
                                message.partition() + "/" + message.priority(), k -> new ArrayList<>())
                        .add(message));
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        return strands.values().stream().flatMap(List::stream).toList();
    }

    public static List<String> texts(Trunkline trunkline, String topic) {
        return all(trunkline, topic).stream().map(LogMessage::text).toList();
    }

    /** The texts of one key, in the order of the log. */
    public static List<String> textsOf(Trunkline trunkline, String topic, String key) {
        return all(trunkline, topic).stream()
                .filter(message -> key.equals(message.key()))
                .map(LogMessage::text)
                .toList();
    }

    /** Offsets start where they should, have no holes and no twins; append times never run back. */
    public static void assertDense(Trunkline trunkline, String topic) {
        Map<String, LogMessage> last = new TreeMap<>();
        for (LogMessage message : all(trunkline, topic)) {
            LogMessage before = last.put(message.partition() + "/" + message.priority(), message);
            long expected = before == null
                    ? trunkline.log().first(topic, message.partition(), message.priority())
                    : before.offset() + 1;
            assertThat(message.offset()).as("%s", message).isEqualTo(expected);
            if (before != null) {
                assertThat(message.appendedAt()).as("%s", message).isAfterOrEqualTo(before.appendedAt());
            }
        }
    }
}
