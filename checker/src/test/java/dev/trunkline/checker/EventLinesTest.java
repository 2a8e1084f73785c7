package dev.trunkline.checker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.trunkline.rig.HostileInputs;
import java.lang.reflect.Constructor;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Any event that can be written down is read as it was. */
class EventLinesTest {

    private static final int ROUNDS = 300;
    private static final List<String> TEXTS = HostileInputs.names();

    static List<Class<?>> kinds() {
        return List.of(Event.class.getPermittedSubclasses());
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void any_event_comes_back_as_it_was_written(Class<?> kind) throws Exception {
        long seed = Long.getLong("seed", new Random().nextInt(1_000_000));
        Random random = new Random(seed);
        for (int round = 0; round < ROUNDS; round++) {
            Event event = event(kind, random);
            if (hasLineEnd(event)) {
                assertThatIllegalArgumentException()
                        .isThrownBy(event::line)
                        .withMessageContaining("one line per event");
            } else {
                assertThat(Event.parse(event.line())).as("seed %d", seed).isEqualTo(event);
            }
        }
    }

    @Test
    void a_line_with_something_changed_is_refused_or_is_another_event() throws Exception {
        long seed = Long.getLong("seed", new Random().nextInt(1_000_000));
        Random random = new Random(seed);
        for (int round = 0; round < 20 * ROUNDS; round++) {
            Event event = event(kinds().get(random.nextInt(kinds().size())), random);
            if (hasLineEnd(event)) {
                continue;
            }
            StringBuilder line = new StringBuilder(event.line());
            int at = random.nextInt(line.length());
            switch (random.nextInt(3)) {
                case 0 -> line.deleteCharAt(at);
                case 1 -> line.insert(at, "\t-=9\u0000x".charAt(random.nextInt(6)));
                default -> line.setLength(at);
            }
            readOrRefuse(line.toString(), "seed " + seed);
        }
    }

    /** What is read is written as it was, but for numbers, which can be written in several ways. */
    static void readOrRefuse(String line, String what) {
        Event read;
        try {
            read = Event.parse(line);
        } catch (IllegalArgumentException e) {
            assertThat(e.getMessage()).as(what).endsWith(line);
            return;
        }
        assertThat(Event.parse(read.line())).as(what).isEqualTo(read);
    }

    private static boolean hasLineEnd(Event event) throws ReflectiveOperationException {
        for (RecordComponent component : event.getClass().getRecordComponents()) {
            Object value = component.getAccessor().invoke(event);
            if (value instanceof String text
                    && (text.indexOf('\t') >= 0 || text.indexOf('\n') >= 0 || text.indexOf('\r') >= 0)) {
                return true;
            }
        }
        return false;
    }

    private static Event event(Class<?> kind, RandomGenerator random) throws ReflectiveOperationException {
        Class<?>[] types = Arrays.stream(kind.getRecordComponents())
                .map(RecordComponent::getType)
                .toArray(Class<?>[]::new);
        Constructor<?> constructor = kind.getDeclaredConstructor(types);
        Object[] values = new Object[types.length];
        for (int i = 0; i < types.length; i++) {
            boolean mayBeNull = List.of("key", "victim").contains(kind.getRecordComponents()[i].getName());
            values[i] = mayBeNull && random.nextInt(3) == 0 ? null : value(types[i], random);
        }
        return (Event) constructor.newInstance(values);
    }

    private static Object value(Class<?> type, RandomGenerator random) {
        if (type == long.class) {
            return random.nextInt(4) == 0 ? Long.MIN_VALUE + random.nextInt(2) : random.nextLong();
        }
        if (type == int.class) {
            return random.nextInt() & Integer.MAX_VALUE;
        }
        if (type.isEnum()) {
            return type.getEnumConstants()[random.nextInt(type.getEnumConstants().length)];
        }
        return TEXTS.get(random.nextInt(TEXTS.size()));
    }
}
