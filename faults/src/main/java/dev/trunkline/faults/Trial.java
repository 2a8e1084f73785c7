package dev.trunkline.faults;

import dev.trunkline.Trunkline;
import dev.trunkline.checker.Checker;
import dev.trunkline.checker.Event;
import dev.trunkline.checker.Event.Outcome;
import dev.trunkline.checker.Invariant;
import dev.trunkline.checker.Journal;
import dev.trunkline.checker.Limits;
import dev.trunkline.checker.Verdict;
import dev.trunkline.embedded.EmbeddedPostgres;
import dev.trunkline.rig.FaultProxy;
import dev.trunkline.rig.TransactionPooler;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** One fault, done again and again to a crowd at work; then all calms down, and what happened is checked. */
final class Trial implements AutoCloseable {

    private static final Duration CALM = Duration.ofSeconds(3);
    /** One that lasts that long does whatever a fault has to offer, and is compared with a crowd that is warm. */
    private static final Duration THOROUGH = Duration.ofSeconds(20);

    private static final Duration WARM = Duration.ofSeconds(10);
    private static final Duration FLOWS_AGAIN = Duration.ofSeconds(30);
    /** How much of the pace stays, where that is promised. */
    private static final double NEARLY_ALL = 0.9;
    /** So many pairs of paces are no accident, on a machine that does other things too. */
    private static final int ENOUGH = 12;
    /** How many messages show that work flows. */
    private static final int FEW = 100;
    /** A dead owner is replaced within its lease and two seconds; what it had under way then waits its turn. */
    private static final Limits LIMITS =
            new Limits(Address.LEASE.plusSeconds(12), Duration.ofSeconds(3), Duration.ofSeconds(90));

    private final Fault fault;
    private final Path journals;
    private final Random random;
    private final Stage stage;
    private final Standing standing;
    private final Map<String, Took> worst = new TreeMap<>();
    private final List<Oblivion.Span> forgotten = new ArrayList<>();
    private final List<Pace> paces = new ArrayList<>();
    private final Map<List<?>, Deque<Object>> decks = new HashMap<>();
    private int events;

    Trial(Fault fault, Path journals, long seed) throws Exception {
        this(fault, Versions.NEWEST, journals, seed);
    }

    /** @param major version of the server */
    Trial(Fault fault, int major, Path journals, long seed) throws Exception {
        this.fault = fault;
        this.journals = journals;
        this.random = new Random(seed);
        this.stage = new Stage(fault, major, journals, new Random(random.nextLong()));
        this.standing = new Standing(stage.address());
    }

    /**
     * The longest that something took.
     *
     * @param most how long it may take; empty if nothing is promised
     */
    record Took(double seconds, Optional<Duration> most) {

        boolean isTooLong() {
            return most.filter(limit -> seconds > limit.toMillis() / 1e3).isPresent();
        }
    }

    /** Messages done in a second, without something and with it. */
    private record Pace(double without, double with) {}

    /**
     * What came of a trial.
     *
     * @param events how often something bad was done
     * @param load messages handled in a second while it was done, as a part of those before
     * @param worst how long what took
     * @param refused what publishers were told that it failed, though they had not rolled it back
     * @param lost messages that were acknowledged by a server whose successor had not heard of them
     * @param problem an expectation that was not met, or why it did not come to its end
     */
    record Result(
            int events,
            double load,
            Map<String, Took> worst,
            long refused,
            long lost,
            Verdict verdict,
            Optional<Exception> problem) {

        /** Whether all promises were kept; or, of a control, whether something was lost: a message, or an effect. */
        boolean isAsItShouldBe(Fault fault) {
            boolean lost = verdict.counts().containsKey(Invariant.C1)
                    || verdict.counts().containsKey(Invariant.C10);
            return problem.isEmpty() && (fault.loses() ? lost : verdict.isClean());
        }

        /** Whether something took longer than promised. */
        boolean isLate() {
            return worst.values().stream().anyMatch(Took::isTooLong);
        }
    }

    /** Whatever happens, what there is in the end is checked. */
    Result run(Duration duration) throws Exception {
        double load = 0;
        Exception problem = null;
        Observer observer = new Observer(stage.address(), stage.journal());
        Follower follower = new Follower(stage.address(), stage.journal());
        stage.journal().write(Workload.owed());
        try (observer;
                follower) {
            awaitMore(200);
            boolean thorough = duration.compareTo(THOROUGH) >= 0;
            if (thorough) {
                LockSupport.parkNanos(WARM.toNanos());
            }
            double calm = standing.rate(() -> LockSupport.parkNanos(CALM.toNanos()));
            requireWatched(observer, follower);
            load = standing.rate(() -> strikeFor(duration, thorough)) / calm;
            stage.line().restore();
            for (Crowd.Member publisher : stage.crowd().publishers()) {
                publisher.stop();
            }
            stage.journal().write(new Event.Stopped(System.nanoTime()));
            standing.awaitDrained();
            Standing.await("the log was read to its end", () -> standing.isReadToItsEnd(follower));
            for (Crowd.Member consumer : stage.crowd().consumers()) {
                consumer.stop();
            }
            for (Crowd.Member guest : stage.crowd().guests()) {
                if (guest.isAlive()) {
                    guest.stop();
                }
            }
            standing.requireNothingGivenUp();
            requirePace(thorough);
            follower.requireWell();
        } catch (IllegalStateException | SQLException e) {
            problem = e;
            stage.crowd().close();
        }
        Evidence.write(stage.address(), stage.journal());
        Deeds deeds = Deeds.read(journals);
        if (problem == null && fault.sparesPublishers() && deeds.refused() > 0) {
            problem = new IllegalStateException(deeds.refused() + " publishes failed, and nothing was done to them");
        }
        long lost = Oblivion.take(journals, forgotten);
        Verdict verdict = Checker.check(journals, LIMITS);
        if (problem == null) {
            problem = Stream.of(
                            Event.Cursor.class,
                            Event.First.class,
                            Event.Read.class,
                            Event.Listed.class,
                            Event.Accepted.class,
                            Event.Effect.class)
                    .filter(kind -> verdict.figures().events(kind) == 0)
                    .findFirst()
                    .map(kind -> new IllegalStateException("nobody has written down a " + kind.getSimpleName()))
                    .orElse(null);
        }
        return new Result(
                fault.tally().count(events, deeds),
                load,
                worst,
                deeds.refused(),
                lost,
                verdict,
                Optional.ofNullable(problem));
    }

    /** A rule is kept by chance where nobody looks. */
    private static void requireWatched(Observer observer, Follower follower) {
        if (observer.looks() == 0) {
            throw new IllegalStateException("nobody has seen what is recorded");
        }
        if (follower.seen() == 0) {
            throw new IllegalStateException("nobody has read the log");
        }
    }

    /** By all strikes together: a few seconds by themselves say little. */
    private boolean isSlower() {
        return paces.stream().mapToDouble(Pace::with).sum()
                < NEARLY_ALL * paces.stream().mapToDouble(Pace::without).sum();
    }

    private void requirePace(boolean thorough) {
        if (thorough && isSlower()) {
            throw new IllegalStateException("it was slower while it was done: " + paces);
        }
    }

    private void strikeFor(Duration duration, boolean thorough) throws Exception {
        long end = System.nanoTime() + duration.toNanos();
        do {
            int before = events;
            fault.strike(this);
            events = Math.max(events, before + 1);
        } while (System.nanoTime() - end < 0
                || (thorough && (isSomethingLeft() || (isSlower() && paces.size() < ENOUGH))));
    }

    private boolean isSomethingLeft() {
        return decks.values().stream().anyMatch(deck -> !deck.isEmpty());
    }

    /** Part of a fault. */
    @FunctionalInterface
    interface Action {
        void run() throws Exception;
    }

    // ---- for faults ----

    /** Does what may cause messages to come again. Nothing else explains it. */
    void harm(Action action) throws Exception {
        harm(null, action);
    }

    /** Does it to one process: what others were at does not come again. */
    void harm(Crowd.@Nullable Member victim, Action action) throws Exception {
        String call = stage.journal().fault(fault.id() + " " + fault.title(), victim == null ? null : victim.name());
        action.run();
        stage.journal().end(call, Outcome.OK);
        did();
    }

    /** Two paces, of which the second is promised to be no less than nine tenths of the first. */
    void compare(double without, double with) {
        paces.add(new Pace(without, with));
    }

    /** Something bad was done once. */
    void did() {
        events++;
    }

    /** The server of this time is gone, and the one that took its place had not heard of it: what it lacks may be lost, and nothing else. */
    void forget(long began, long ended) {
        forgotten.add(new Oblivion.Span(began, ended));
    }

    /** Something that is to be told has taken its time. */
    void took(String what, long nanos) {
        took(what, nanos, Optional.empty());
    }

    /** Something that is promised to take no longer. */
    void took(String what, long nanos, Duration most) {
        took(what, nanos, Optional.of(most));
    }

    private synchronized void took(String what, long nanos, Optional<Duration> most) {
        worst.merge(what, new Took(nanos / 1e9, most), (one, other) -> one.seconds() > other.seconds() ? one : other);
    }

    /** Waits until a process has something that others can take over. */
    void awaitOwning(long pid) {
        Standing.await("process " + pid + " has something", () -> !standing.isWithout(pid));
    }

    /** What a process had that has died goes to others in time. Returns when it did. */
    void awaitTakenOver(long pid) {
        awaitTakenOver(pid, Address.LEASE.plusSeconds(2));
    }

    /** What a process had that lives, and is not heard of from now on, goes to others. Nothing is promised: one slow look has them count anew. */
    void awaitTakenOverWhileItLives(long pid) {
        awaitTakenOver(pid, Address.LEASE.multipliedBy(2).plusSeconds(2));
    }

    private void awaitTakenOver(long pid, Duration most) {
        long silent = System.nanoTime();
        Standing.await("what it had is known", () -> {
            if (standing.isWithout(pid)) {
                throw new IllegalStateException("process " + pid + " had nothing, by what is recorded");
            }
            return true;
        });
        Standing.await("what it had is taken over", () -> standing.isWithout(pid));
        took("taken over within", System.nanoTime() - silent, most);
    }

    Standing standing() {
        return standing;
    }

    Random random() {
        return random;
    }

    EmbeddedPostgres server() {
        return stage.server();
    }

    Disk disk() {
        return stage.disk();
    }

    /** The one for WAL. */
    Disk walDisk() {
        return stage.walDisk();
    }

    Island island() {
        return stage.island();
    }

    FaultProxy line() {
        return stage.line();
    }

    Journal journal() {
        return stage.journal();
    }

    Path journals() {
        return journals;
    }

    /** How often something bad was done until now: more with every strike. */
    int events() {
        return events;
    }

    TransactionPooler pooler() {
        return stage.pooler();
    }

    Pair pair() {
        return stage.pair();
    }

    Clocks clocks() {
        return stage.clocks();
    }

    Crowd crowd() {
        return stage.crowd();
    }

    /** A Trunkline that no fault of the line reaches. */
    Trunkline open() {
        return stage.address().open();
    }

    /** A connection that no fault of the line reaches. */
    Connection connect() throws SQLException {
        return stage.address().connect();
    }

    /** Any of them. */
    <T> T oneOf(List<T> some) {
        return some.get(random.nextInt(some.size()));
    }

    /** One of the ways to do it, as from a deck of cards: each comes before any comes again. */
    @SuppressWarnings("unchecked") // a deck holds what its list does
    <T> T draw(List<T> ways) {
        Deque<Object> deck = decks.computeIfAbsent(ways, all -> new ArrayDeque<>());
        if (deck.isEmpty()) {
            List<T> shuffled = new ArrayList<>(ways);
            Collections.shuffle(shuffled, random);
            deck.addAll(shuffled);
        }
        return (T) deck.removeFirst();
    }

    /** Waits a while, up to so long. */
    void pause(Duration most) {
        LockSupport.parkNanos((long) (most.toNanos() * random.nextDouble()));
    }

    /** Waits until every group has done so many more messages of each of its topics. */
    void awaitMore(int messages) {
        long began = System.nanoTime();
        long[] before = standing.awaitDone();
        Standing.await("work flows again", () -> {
            long[] now = standing.done();
            return IntStream.range(0, before.length).allMatch(i -> now[i] >= before[i] + messages);
        });
        if (messages <= FEW) {
            took("work flows again within", System.nanoTime() - began, FLOWS_AGAIN);
        }
    }

    @Override
    public void close() {
        stage.close();
    }
}
