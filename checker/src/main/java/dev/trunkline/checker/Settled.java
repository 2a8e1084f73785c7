package dev.trunkline.checker;

import dev.trunkline.checker.History.Handling;
import dev.trunkline.checker.History.Place;
import dev.trunkline.checker.History.Terms;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** How far everything is done, as time goes by. */
final class Settled {

    private final Terms terms;
    private final Iterator<Place> places;
    private final Iterator<Handling> ends;
    private final Set<Long> done = new HashSet<>();
    private @Nullable Place open;
    private @Nullable Handling next;

    /** @param places by offset */
    Settled(Terms terms, Iterable<Place> places, List<Handling> handlings) {
        this.terms = terms;
        this.places = places.iterator();
        this.ends = handlings.stream()
                .filter(Handling::isDone)
                .sorted(Comparator.comparingLong(each -> each.ended))
                .iterator();
        this.open = next(this.places);
        this.next = next(ends);
    }

    /** The first place where something was not done at a time, which is not before that of the last call. */
    @Nullable
    Place open(long time) {
        while (next != null && next.ended <= time) {
            done.add(next.place.offset());
            next = next(ends);
        }
        while (open != null && (done.remove(open.offset()) || terms.excuse(open.offset(), time))) {
            open = next(places);
        }
        return open;
    }

    private static <T> @Nullable T next(Iterator<T> some) {
        return some.hasNext() ? some.next() : null;
    }
}
