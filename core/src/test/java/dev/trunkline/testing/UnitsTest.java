package dev.trunkline.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.checker.Event;
import dev.trunkline.checker.Event.Publish;
import dev.trunkline.checker.Event.Way;
import dev.trunkline.testing.WholeLog.Entry;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A check is worth what it catches. */
class UnitsTest {

    private final List<Event> events = List.of(
            publish("1", "a", Way.PUBLISH),
            publish("2", "b", Way.WORK),
            publish("3", "c1", Way.WORK),
            publish("3", "c2", Way.WORK),
            publish("3", "c3", Way.WORK),
            publish("4", "later1", Way.LATER),
            publish("4", "later2", Way.LATER));
    private final List<Entry> log = new ArrayList<>(List.of(
            new Entry(0, 1, null, "a", 1, true),
            new Entry(0, 2, null, "c1", 7, false),
            new Entry(0, 3, null, "c2", 7, true),
            new Entry(0, 4, null, "later1", 8, true),
            new Entry(0, 5, null, "b", 2, true),
            new Entry(0, 6, null, "later2", 9, true),
            new Entry(1, 0, null, "c3", 7, true)));

    private static Publish publish(String call, String value, Way way) {
        return new Publish(0, call, "t", null, value, way);
    }

    @Test
    void a_clean_log_passes() {
        assertThat(Units.violations(events, log)).isEmpty();
    }

    @Test
    void a_unit_with_another_message_in_its_midst_is_found() {
        log.set(2, new Entry(0, 3, null, "b", 2, true));
        log.set(4, new Entry(0, 5, null, "c2", 7, true));
        assertThat(Units.violations(events, log))
                .containsExactlyInAnyOrder("unit has no end at c1 at 0/2", "unit torn apart before c2 at 0/5");
    }

    @Test
    void a_unit_without_an_end_is_found() {
        log.set(2, new Entry(0, 3, null, "c2", 7, false));
        assertThat(Units.violations(events, log)).containsExactly("unit has no end at c2 at 0/3");
    }

    @Test
    void a_unit_that_ends_too_early_is_found() {
        log.set(1, new Entry(0, 2, null, "c1", 7, true));
        assertThat(Units.violations(events, log)).containsExactly("unit ends too early at c1 at 0/2");
    }

    @Test
    void a_unit_that_changes_is_found() {
        log.set(1, new Entry(0, 2, null, "c1", 6, false));
        assertThat(Units.violations(events, log)).containsExactly("unit changes between c1 at 0/2 and c2 at 0/3");
    }
}
