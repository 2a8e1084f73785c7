package dev.trunkline.fault;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.rig.ChildJvm;
import dev.trunkline.testing.LargeProcess;
import dev.trunkline.testing.TestDatabase;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** F26: what is too large is refused before it is copied, and what is allowed needs little memory however much it is. */
@Timeout(300)
class LargeInputsTest {

    private static final Map<String, String> LITTLE_MEMORY = Map.of("JAVA_TOOL_OPTIONS", "-Xmx256m");

    @Test
    void a_process_with_little_memory_publishes_much_and_is_refused_what_is_too_much() throws Exception {
        TestDatabase database = TestDatabase.fresh();
        try (Trunkline trunkline = database.open()) {
            trunkline.topics().create(TopicConfiguration.queue("t").withPartitions(4));
            List<String> said = new ArrayList<>();
            try (ChildJvm child = ChildJvm.start(
                    List.of(),
                    LargeProcess.class,
                    LITTLE_MEMORY,
                    database.url(),
                    database.server().user(),
                    database.server().password())) {
                for (String line = child.readLine(); line != null; line = child.readLine()) {
                    said.add(line);
                }
                assertThat(child.waitFor()).as("%s", said).isZero();
            }
            assertThat(said)
                    .containsExactly(
                            "alone: refused",
                            "beside others: refused",
                            "in a transaction: refused",
                            "batch in a transaction: refused",
                            "more than its memory: taken",
                            "a batch of 10000: taken",
                            "a batch of 10000 in a transaction: taken",
                            "100000 headers: refused");
            trunkline.relayNow();
            assertThat(IntStream.range(0, 4)
                            .mapToLong(partition -> trunkline.log().end("t", partition))
                            .sum())
                    .isEqualTo(300 + 2 * 10_000);
        }
    }
}
