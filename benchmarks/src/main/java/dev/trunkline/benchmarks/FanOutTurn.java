package dev.trunkline.benchmarks;

import dev.trunkline.benchmarks.Tables.Deadest;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.concurrent.CompletableFuture;

/**
 * One turn of one side of {@link FanOut}: messages are published at a steady rate, handled, removed, and looked at. It stands for an hour, so
 * that tables are vacuumed sixty times in it, by the rule of autovacuum.
 */
final class FanOutTurn {

    private static final Pace LOOKING = new Pace(1, 4);
    private static final int LAST_THIRD = 2;
    private static final int CLEANUPS = 10;
    private static final double FEWEST_CLEANUPS_PER_SECOND = 0.2;
    /** As often as autovacuum comes in an hour. */
    private static final int VACUUMS = 60;

    private final Workbench bench;
    private final ManyGroups side;
    private final int groups;
    private final Pace publishing;
    private final Pace cleaning;
    private final Pace vacuuming;
    private final double seconds;
    private final LongSummaryStatistics[] kept = {
        new LongSummaryStatistics(), new LongSummaryStatistics(), new LongSummaryStatistics()
    };
    private final List<Deadest> deadest = new ArrayList<>();
    private long mostBytes;

    FanOutTurn(Workbench bench, ManyGroups side, int groups, int perSecond, double seconds) {
        this.bench = bench;
        this.side = side;
        this.groups = groups;
        this.publishing = new Pace(FanOut.PUBLISHERS, (double) perSecond / FanOut.BATCH);
        this.cleaning = new Pace(1, Math.max(CLEANUPS / seconds, FEWEST_CLEANUPS_PER_SECOND));
        this.vacuuming = new Pace(1, VACUUMS / seconds);
        this.seconds = seconds;
    }

    /** How long messages are kept in a turn of so many seconds: a fifth of it. */
    static Duration kept(double seconds) {
        return Duration.ofSeconds(Math.max(1, Math.round(seconds / 5)));
    }

    /**
     * What was seen until the last message was published.
     *
     * @param handled messages in a second, by all groups together
     * @param behind what was not handled then, in seconds of publishing
     * @param fetchMillis the 95th percentile
     * @param clientMillis the same, as it looked from here
     * @param deadest typical of the last third
     * @param growth of the messages that are kept, on average: the last third against the one before
     * @param bytes of all tables, at their most
     */
    record Seen(
            double handled,
            double behind,
            double fetchMillis,
            double clientMillis,
            double fetchesPerSecond,
            Deadest deadest,
            double growth,
            double bytes,
            double walPerSecond,
            double walPerHandled) {}

    /** How far it had come when the last message was published. */
    private record End(long published, long handled, double seconds, long walPosition) {}

    Seen run() throws Exception {
        try (Tables looked = new Tables(bench, side.schema());
                Tables vacuumed = new Tables(bench, side.schema());
                Tables ended = new Tables(bench, side.schema())) {
            long walBefore = ended.walPosition();
            side.fetches().reset();
            long began = System.nanoTime();
            List<CompletableFuture<Void>> others = List.of(
                    beside("vacuuming", () -> keep(vacuuming, began, vacuumed::vacuum)),
                    beside("cleaning", () -> keep(cleaning, began, side::cleanUp)),
                    beside("looking", () -> keep(LOOKING, began, () -> look(looked, third(began)))));
            End end = publish(ended, began);
            others.forEach(CompletableFuture::join);
            look(looked, LAST_THIRD);
            side.end(end.published());
            return seen(end, end.walPosition() - walBefore);
        }
    }

    /** Something that is done again and again. */
    @FunctionalInterface
    private interface Work {
        void run() throws Exception;
    }

    private void keep(Pace pace, long began, Work work) {
        pace.keep(began, seconds, due -> {
            work.run();
            return 1;
        });
    }

    private static CompletableFuture<Void> beside(String name, Runnable work) {
        return CompletableFuture.runAsync(
                work, run -> Thread.ofPlatform().name(name).start(run));
    }

    private End publish(Tables tables, long began) throws SQLException {
        long published = publishing.keep(began, seconds, due -> side.publish(FanOut.BATCH));
        Pace.sleepUntil(began + (long) (seconds * 1e9));
        return new End(published, side.handled(), (System.nanoTime() - began) / 1e9, tables.walPosition());
    }

    private int third(long began) {
        return (int) Math.min((System.nanoTime() - began) / 1e9 / seconds * 3, LAST_THIRD);
    }

    private void look(Tables tables, int third) throws SQLException {
        kept[third].accept(side.kept());
        mostBytes = Math.max(mostBytes, tables.bytes());
        if (third == LAST_THIRD) {
            deadest.add(tables.deadest());
        }
    }

    private Seen seen(End end, long walBytes) {
        double perSecond = publishing.perSecond() * FanOut.BATCH * groups;
        deadest.sort(Comparator.comparingDouble(Deadest::percent));
        return new Seen(
                end.handled() / end.seconds(),
                (end.published() * groups - end.handled()) / perSecond,
                side.fetches().p95(),
                side.fetches().p95AtClient(),
                side.fetches().count() / end.seconds(),
                deadest.get(deadest.size() / 2),
                kept[LAST_THIRD].getAverage() / kept[LAST_THIRD - 1].getAverage(),
                mostBytes,
                walBytes / end.seconds(),
                (double) walBytes / end.handled());
    }
}
