package dev.trunkline.server.http;

import java.lang.reflect.Type;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A part of a list.
 *
 * @param next what to ask for as {@code after} to get more; null: that was all
 */
record Page<T>(List<T> items, @Nullable String next) {

    static final Parameter LIMIT = Parameter.number("limit", "how many at most", 100, 1, 1_000);
    /** Of what is listed by number. */
    static final Parameter AFTER =
            Parameter.number("after", "where the last page ended: its \"next\"", 0, 0, Long.MAX_VALUE);

    /** Of what is listed by name. */
    static final Parameter AFTER_TEXT = Parameter.text("after", "where the last page ended: its \"next\"");

    /** The type of a page of these. */
    static Type of(Class<?> items) {
        return Json.MAPPER.getTypeFactory().constructParametricType(Page.class, items);
    }

    /**
     * The first so many.
     *
     * @param found one more than that, if there are more
     */
    static <T> Page<T> of(List<T> found, int limit, Function<T, String> place) {
        return found.size() > limit
                ? new Page<>(found.subList(0, limit), place.apply(found.get(limit - 1)))
                : new Page<>(found, null);
    }

    static <T> Page<T> all(List<T> items) {
        return new Page<>(items, null);
    }
}
