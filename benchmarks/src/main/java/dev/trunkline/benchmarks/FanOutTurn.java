package dev.trunkline.benchmarks;

import dev.trunkline.benchmarks.Tables.Deadest;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.Comparator;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** One turn of one side of {@link FanOut}: messages are published at a steady rate, handled, removed, and looked at. */
final class FanOutTurn {

    private static final Pace CLEANING = new Pace(1, 4);
    private static final Pace VACUUMING = new Pace(1, 1);

    private final Workbench bench;
    private final ManyGroups side;
    private final int groups;
    private final Pace publishing;
    private final double seconds;
    private final long[] mostBytes = new long[3];
    private Deadest deadest = Deadest.NONE;

    FanOutTurn(Workbench bench, ManyGroups side, int groups, int perSecond, double seconds) {
        this.bench = bench;
        this.side = side;
        this.groups = groups;
        this.publishing = new Pace(FanOut.PUBLISHERS, (double) perSecond / FanOut.BATCH);
        this.seconds = seconds;
    }

    /**
     * What was seen until the last message was published.
     *
     * @param handled messages and groups in a second
     * @param late messages and groups that were published and not handled yet, in seconds of what was to be published
     * @param fetchMillis the 95th percentile
     * @param growth the most bytes in the last third against the most in the third before
     */
    record Seen(
            double handled,
            double late,
            double fetchMillis,
            double fetchesPerSecond,
            Deadest deadest,
            double growth,
            double bytes,
            double walPerSecond,
            double walPerHandled) {

        boolean keptUp() {
            return late < 0.25;
        }
    }

    /** How far it had come when the last message was published. */
    private record End(long published, long handled, double seconds, long walPosition) {}

    Seen run() throws Exception {
        try (Tables tables = new Tables(bench, side.schema());
                Tables vacuumed = new Tables(bench, side.schema());
                Tables ending = new Tables(bench, side.schema())) {
            long wal = tables.walPosition();
            side.fetches().reset();
            long began = System.nanoTime();
            CompletableFuture<End> publishers = beside("publishing", () -> publish(ending, began));
            CompletableFuture<Long> vacuuming =
                    beside("vacuuming", () -> VACUUMING.keep(began, seconds, due -> vacuumed.vacuum()));
            CLEANING.keep(began, seconds, due -> {
                side.cleanUp();
                look(tables, (due - began) / 1e9 / seconds);
                return 1;
            });
            End end = publishers.join();
            vacuuming.join();
            look(tables, 0.999);
            Seen seen = seen(end, end.walPosition() - wal);
            side.end(end.published());
            return seen;
        }
    }

    private static <T> CompletableFuture<T> beside(String name, Supplier<T> task) {
        return CompletableFuture.supplyAsync(
                task, run -> Thread.ofPlatform().name(name).start(run));
    }

    private End publish(Tables tables, long began) {
        long published = publishing.keep(began, seconds, due -> side.publish(FanOut.BATCH));
        try {
            return new End(published, side.handled(), (System.nanoTime() - began) / 1e9, tables.walPosition());
        } catch (SQLException e) {
            throw new CompletionException(e);
        }
    }

    /** @param when the part of the turn that is over */
    private void look(Tables tables, double when) throws SQLException {
        int third = (int) (when * 3);
        mostBytes[third] = Math.max(mostBytes[third], tables.bytes());
        if (third == 2) {
            deadest = Stream.of(deadest, tables.deadest())
                    .max(Comparator.comparingDouble(Deadest::percent))
                    .orElseThrow();
        }
    }

    private Seen seen(End end, long walBytes) {
        double perSecond = publishing.perSecond() * FanOut.BATCH * groups;
        return new Seen(
                end.handled() / end.seconds(),
                Math.max(perSecond * seconds - end.handled(), 0) / perSecond,
                Pace.millis(side.fetches(), 95),
                side.fetches().getTotalCount() / end.seconds(),
                deadest,
                (double) mostBytes[2] / mostBytes[1],
                Arrays.stream(mostBytes).max().orElseThrow(),
                walBytes / end.seconds(),
                (double) walBytes / end.handled());
    }
}
