package dev.trunkline.consume;

import dev.trunkline.GroupStatus;
import dev.trunkline.LogMessage;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.log.SegmentedLog.Reading;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** What a group reads: ahead of its handlers, within the window; of its history, as much as its pace allows. For the group's loop alone. */
final class Intake {

    private static final int MOST_AT_ONCE = 500;
    static final long MOST_BYTES = 32L * 1024 * 1024;

    private final SubscriptionOptions options;
    private final Reading source;
    private final Cut cut;
    private final Health health;
    private final Dispatcher dispatcher;
    private final Runs runs;
    private final Holdings holdings;
    private final LongSupplier probe;
    private final Runnable hurry;
    /** Null: as fast as can be. */
    private final @Nullable Pace pace;

    private boolean throttled;
    private long nextTrial = System.nanoTime();
    /** What is read in this session: what was read ahead in another one may not be in the log any more. */
    private ReadAhead reading;

    private long session;

    /**
     * @param probe asks the database a small question, and tells how long the answer took
     * @param hurry has what is done recorded soon, and the group look again then
     */
    Intake(
            SubscriptionOptions options,
            Reading source,
            Cut cut,
            Health health,
            Dispatcher dispatcher,
            Runs runs,
            Holdings holdings,
            LongSupplier probe,
            Runnable hurry) {
        this.options = options;
        this.source = source;
        this.reading = new ReadAhead(source);
        this.cut = cut;
        this.health = health;
        this.dispatcher = dispatcher;
        this.runs = runs;
        this.holdings = holdings;
        this.probe = probe;
        this.hurry = hurry;
        this.pace = options.backfill()
                .map(backfill -> new Pace(backfill, System.nanoTime()))
                .orElse(null);
    }

    /** How many messages of a strand are read at once. */
    int atOnce() {
        return Math.min(MOST_AT_ONCE, (options.window() + 1) / 2);
    }

    /** Whether something of the history was left for later when it last read. */
    boolean isThrottled() {
        return throttled;
    }

    /** A strand that there is room for. */
    private record Place(Owned owned, Strand strand) {}

    /** Reads what there is room for and returns how many messages that were. */
    int read(GroupStatus status, boolean historyHeld) {
        throttled = false;
        boolean ill = health.isFailing();
        if (status == GroupStatus.PAUSED || status == GroupStatus.CANCELLED || (ill && !mayTry(System.nanoTime()))) {
            dispatcher.locked(runs::wantRoom);
            return 0;
        }
        List<Place> history = new ArrayList<>();
        List<Place> places = new ArrayList<>();
        dispatcher.locked(() -> findRoom(places, history));
        int allowance = historyHeld || history.isEmpty() ? 0 : allowance();
        throttled = !historyHeld && history.size() > allowance;
        if (history.size() > allowance) {
            Collections.shuffle(history); // none is always the last
        }
        Pace.Share share = Pace.share(allowance, history.size(), atOnce());
        places.addAll(history.subList(0, share.strands()));
        if (places.isEmpty()) {
            return 0;
        }
        if (session != holdings.session()) {
            session = holdings.session();
            reading = new ReadAhead(source);
        }
        Map<Integer, List<LogMessage>> found = reading.read(
                places.stream().mapToInt(place -> place.strand().number()).toArray(),
                places.stream().mapToLong(place -> place.strand().position()).toArray(),
                ill ? Math.min(Health.FEWEST, share.each()) : share.each());
        int count = 0;
        for (Place place : places) {
            List<LogMessage> messages = found.getOrDefault(place.strand().number(), List.of());
            count += messages.size();
            if (pace != null && place.strand().isInHistory()) {
                pace.took(messages.size());
            }
            if (!messages.isEmpty()) {
                offer(place, messages);
            }
        }
        return count;
    }

    /** A handler that fails is given a few messages more now and then: those it has may be all that it fails for. */
    private boolean mayTry(long now) {
        boolean may = now - nextTrial >= 0;
        if (may) {
            nextTrial = now + options.retry().longest().toNanos();
        }
        return may;
    }

    /** A strand at a time, so that workers get the lock in between. */
    private void offer(Place place, List<LogMessage> messages) {
        dispatcher.locked(() -> {
            if (!place.owned().isStopped()) {
                runs.offer(place.owned(), place.strand(), messages);
            }
        });
    }

    private void findRoom(List<Place> places, List<Place> history) {
        boolean far = false;
        for (Owned partition : holdings.all()) {
            for (Strand strand : partition.strands()) {
                far |= strand.shouldBeRecorded(options.window());
                if (partition.isStopped() || strand.isHalted() || !hasRoom(strand)) {
                    runs.wantRoom();
                } else {
                    (strand.isInHistory() ? history : places).add(new Place(partition, strand));
                }
            }
        }
        if (far) {
            hurry.run();
        }
    }

    /** Within the window; and beyond it, if its first unit of work has begun and not ended in what was read. */
    private boolean hasRoom(Strand strand) {
        return (strand.undone() <= options.window() - atOnce()
                        && strand.reaches(atOnce(), options.window())
                        && runs.bytes() <= MOST_BYTES)
                || (!options.batching().isSingle()
                        && strand.runs.values().stream().anyMatch(run -> cut.wantsMore(run.waiting)));
    }

    /** How many messages of the history may be read now. */
    private int allowance() {
        if (pace == null) {
            return Integer.MAX_VALUE;
        }
        if (pace.wantsProbe(System.nanoTime())) {
            long took = probe.getAsLong();
            pace.answered(System.nanoTime(), took);
        }
        return pace.allowance(System.nanoTime());
    }
}
