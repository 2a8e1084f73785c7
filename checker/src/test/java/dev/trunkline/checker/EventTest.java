package dev.trunkline.checker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class EventTest {

    @Test
    void every_event_comes_back_as_it_was_written() {
        List<Event> events = List.of(
                new Event.Publish(1, "c", "t", null, "v", Event.Way.PUBLISH),
                new Event.Publish(1, "c", "t", "k", "", Event.Way.LATER),
                new Event.Publish(1, "c", "t", null, "v", Event.Way.WORK),
                new Event.Business(1, "t", "v"),
                new Event.End(-2, "c", Event.Outcome.OK),
                new Event.End(2, "c", Event.Outcome.FAILED),
                new Event.End(2, "c", Event.Outcome.UNKNOWN),
                new Event.Start(3, "c", "g", "m", 4, "t", 5, 6, "k", "v"),
                new Event.Start(3, "c", "g", "m", 4, "t", 5, 6, null, "v"),
                new Event.Start(3, "c", "g", "m", 4, "t", 5, 6, "", "v"),
                new Event.Read(7, "r", "t", 8, 9, "ü \" v"),
                new Event.Logged(10, "t", 0, Long.MAX_VALUE, "=", "v"),
                new Event.First(11, "t", 0, 12),
                new Event.Cursor(13, "g", "t", 0, 14, 15),
                new Event.From(15, "g", "t", 0, 16),
                new Event.Left(17, "g", "t"),
                new Event.Gap(18, "g", "t", 0, 19, 20),
                new Event.Gap(18, "g", "t", 0, 19, 20, -5),
                new Event.Letter(21, "g", "t", 0, 22),
                new Event.Letter(21, "g", "t", 0, 22, 0),
                new Event.Effect(23, "g", "t", 0, 24, 25, "v"),
                new Event.Accepted(23, "g", "t", 0, 25),
                new Event.Fault(26, "c", "a name"),
                new Event.Fault(26, "c", "a name", "m"),
                new Event.Transactional(27, "g", "t"),
                new Event.Listed(27),
                new Event.Stopped(27));
        for (Event event : events) {
            assertThat(Event.parse(event.line())).isEqualTo(event);
        }
    }

    @Test
    void what_is_no_event_is_refused_with_the_reason() {
        assertThatThrownBy(() -> Event.parse("")).hasMessageContaining("\"\" is no number");
        assertThatThrownBy(() -> Event.parse("x\tstopped")).hasMessageContaining("\"x\" is no number");
        assertThatThrownBy(() -> Event.parse("1")).hasMessageContaining("missing");
        assertThatThrownBy(() -> Event.parse("1\tdance")).hasMessageContaining("dance");
        assertThatThrownBy(() -> Event.parse("1\tleft\tg")).hasMessageContaining("missing");
        assertThatThrownBy(() -> Event.parse("1\tleft\tg\tt\tmore")).hasMessageContaining("follows");
        assertThatThrownBy(() -> Event.parse("1\tfirst\tt\t-1\t0")).hasMessageContaining("-1 is no partition");
        assertThatThrownBy(() -> Event.parse("1\tlogged\tt\t0\t0\tk\tv")).hasMessageContaining("key");
        assertThatThrownBy(() -> new Event.Publish(1, "c", "t", null, "a\tb", Event.Way.PUBLISH).line())
                .hasMessageContaining("tab");
        assertThatThrownBy(() -> new Event.Left(1, "g", "a\rb").line()).hasMessageContaining("line's end");
    }
}
