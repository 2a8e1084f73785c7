package dev.trunkline.server.http;

import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A part of a list.
 *
 * @param next what to ask for as {@code after} to get more; null: that was all
 */
record Page<T>(List<T> items, @Nullable String next) {

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
}
