package dev.trunkline.checker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.trunkline.checker.Event.Accepted;
import dev.trunkline.checker.Event.Business;
import dev.trunkline.checker.Event.Content;
import dev.trunkline.checker.Event.Cursor;
import dev.trunkline.checker.Event.Effect;
import dev.trunkline.checker.Event.End;
import dev.trunkline.checker.Event.Fault;
import dev.trunkline.checker.Event.First;
import dev.trunkline.checker.Event.Gap;
import dev.trunkline.checker.Event.Left;
import dev.trunkline.checker.Event.Letter;
import dev.trunkline.checker.Event.Listed;
import dev.trunkline.checker.Event.Logged;
import dev.trunkline.checker.Event.Outcome;
import dev.trunkline.checker.Event.Publish;
import dev.trunkline.checker.Event.Read;
import dev.trunkline.checker.Event.Start;
import dev.trunkline.checker.Event.Stopped;
import dev.trunkline.checker.Event.Transactional;
import dev.trunkline.checker.Event.Way;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** A history in which all is well passes, and every way to spoil it is found and called by its name. */
class CheckerTest {

    private static final long SECOND = 1_000_000_000;
    private static final int MESSAGES = 10;

    @TempDir
    Path directory;

    /** Ten messages, of two keys in turn, in one partition, one a second; each is handled by a group half a second later. */
    private static List<Event> clean() {
        List<Event> events = new ArrayList<>();
        for (int i = 0; i < MESSAGES; i++) {
            long now = i * SECOND;
            events.add(new Publish(now, "p" + i, "t", keyOf(i), "v" + i, Way.PUBLISH));
            events.add(new End(now + 10, "p" + i, Outcome.OK));
            events.add(new Read(now + 15, "reader", "t", 0, i, "v" + i));
            events.add(start(now + SECOND / 2, "h" + i, 1, i));
            events.add(new End(now + SECOND / 2 + 10, "h" + i, Outcome.OK));
            events.add(new Effect(now + SECOND / 2 + 20, "g", "t", 0, i, 1, "v" + i));
            events.add(new Cursor(now + SECOND / 2 + 30, "g", "t", 0, i + 1));
            events.add(new Logged(100 * SECOND, "t", 0, i, keyOf(i), "v" + i));
        }
        events.add(new Stopped(20 * SECOND));
        return events;
    }

    private static String keyOf(int number) {
        return "k" + number % 2;
    }

    private static Start start(long time, String call, long epoch, int number) {
        return new Start(time, call, "g", "m" + epoch, epoch, "t", 0, number, keyOf(number), "v" + number);
    }

    private static List<Event> again(long time, long epoch, int number) {
        String call = "again" + number + "@" + time;
        return List.of(start(time, call, epoch, number), new End(time + 10, call, Outcome.OK));
    }

    private static UnaryOperator<List<Event>> fault(long began, long ended, @Nullable String victim) {
        String call = "fault@" + began;
        return with(new Fault(began, call, "kill", victim), new End(ended, call, Outcome.OK));
    }

    /** Its handler did not live to tell, and so nothing was recorded. */
    private static UnaryOperator<List<Event>> neverEnded(int number) {
        return all(
                without(event -> isEnd(event, "h" + number)),
                without(event -> event instanceof Cursor cursor && cursor.offset() > number));
    }

    /** It was tried, and is not done. */
    private static UnaryOperator<List<Event>> givenUp(int number) {
        return all(
                without(event -> isEnd(event, "h" + number) || event instanceof Cursor),
                without(event -> event instanceof Effect effect && effect.offset() == number),
                with(new End(number * SECOND + SECOND / 2 + 10, "h" + number, Outcome.FAILED)));
    }

    private Verdict check(List<Event> events) throws IOException {
        Path fresh = Files.createTempDirectory(directory, "history");
        try (Journal journal = Journal.create(fresh, "all")) {
            journal.write(events.stream()
                    .sorted(Comparator.comparingLong(Event::time))
                    .toList());
        }
        return Checker.check(fresh, Limits.standard());
    }

    private static UnaryOperator<List<Event>> without(Predicate<Event> some) {
        return events -> events.stream().filter(some.negate()).toList();
    }

    private static UnaryOperator<List<Event>> with(Event... more) {
        return with(List.of(more));
    }

    private static UnaryOperator<List<Event>> with(List<Event> more) {
        return events -> {
            List<Event> all = new ArrayList<>(events);
            all.addAll(more);
            return all;
        };
    }

    @SafeVarargs
    private static UnaryOperator<List<Event>> all(UnaryOperator<List<Event>>... changes) {
        return events -> {
            List<Event> changed = events;
            for (UnaryOperator<List<Event>> change : changes) {
                changed = change.apply(changed);
            }
            return changed;
        };
    }

    private static boolean isHandled(Event event, int number) {
        return (event instanceof Start start && start.offset() == number)
                || (event instanceof End end && end.call().equals("h" + number));
    }

    private static boolean isSeen(Event event, int number) {
        return isHandled(event, number)
                || (event instanceof Read read && read.offset() == number)
                || (event instanceof Logged logged && logged.offset() == number)
                || (event instanceof Effect effect && effect.offset() == number);
    }

    private static boolean isEnd(Event event, String call) {
        return event instanceof End end && end.call().equals(call);
    }

    @Test
    void a_clean_history_has_no_violation_and_is_counted() throws IOException {
        Verdict verdict = check(clean());
        assertThat(verdict.told()).isEmpty();
        assertThat(verdict.isClean()).isTrue();
        assertThat(verdict.figures().acknowledged()).isEqualTo(MESSAGES);
        assertThat(verdict.figures().handled()).isEqualTo(MESSAGES);
        assertThat(verdict.figures().effects()).isEqualTo(MESSAGES);
        assertThat(verdict.figures().duplicates()).isZero();
        assertThat(verdict.figures().events()).isEqualTo(8 * MESSAGES + 1);
        for (Class<? extends Event> kind :
                List.of(Publish.class, Start.class, Read.class, Cursor.class, Effect.class, Logged.class)) {
            assertThat(verdict.figures().events(kind)).isEqualTo(MESSAGES);
        }
        assertThat(verdict.figures().events(First.class)).isZero();
        assertThat(verdict.figures().took()).isPositive();
        assertThat(verdict.figures().toString()).contains("81 events in ", "cursor 10", "stopped 1");
    }

    @Test
    void where_there_is_nothing_to_check_nothing_is_said_to_be_well() throws IOException {
        assertThat(run(directory.resolve("nowhere")))
                .isEqualTo(new Said(2, "", "there is no directory " + directory.resolve("nowhere")));
        assertThat(run(directory))
                .isEqualTo(
                        new Said(2, "", "there is nothing to check: no file in " + directory + " ends with .journal"));
        try (Journal journal = Journal.create(directory, "a")) {
            journal.write(new Stopped(1));
            String unpublished =
                    "there is nothing to check: by the journals in " + directory + " nothing was published";
            assertThat(run(directory)).isEqualTo(new Said(2, "", unpublished));
            assertThatThrownBy(() -> Checker.check(directory, Limits.standard()))
                    .hasMessage(unpublished);
            String call = journal.publish(Way.PUBLISH, "t", List.of(new Content(null, "v")));
            assertThat(run(directory)).returns(0, Said::code);
            journal.end(call, Outcome.OK);
            assertThat(run(directory)).returns(1, Said::code);
        }
        assertThat(Checker.run(new String[0], System.out, System.err)).isEqualTo(2);
    }

    private record Said(int code, String out, String errors) {}

    private static Said run(Path journals) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream errors = new ByteArrayOutputStream();
        int code = Checker.run(
                new String[] {journals.toString()},
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(errors, true, StandardCharsets.UTF_8));
        return new Said(
                code,
                out.toString(StandardCharsets.UTF_8),
                errors.toString(StandardCharsets.UTF_8).strip());
    }

    private record Case(String name, List<Invariant> expected, UnaryOperator<List<Event>> change) {}

    private static Case bad(String name, Invariant expected, UnaryOperator<List<Event>> change) {
        return new Case(name, List.of(expected), change);
    }

    private static Case good(String name, UnaryOperator<List<Event>> change) {
        return new Case(name, List.of(), change);
    }

    private static List<Case> cases() {
        long late = 50 * SECOND;
        return List.of(
                // C1
                bad(
                        "acknowledged, and nowhere",
                        Invariant.C1,
                        with(new Publish(0, "q", "t", null, "gone", Way.PUBLISH), new End(1, "q", Outcome.OK))),
                bad(
                        "never handled",
                        Invariant.C1,
                        all(
                                without(event -> isHandled(event, 9)),
                                without(event -> event instanceof Cursor cursor && cursor.offset() > 9))),
                bad(
                        "handled by one group and not by the other",
                        Invariant.C1,
                        with(new Event.From(0, "other", "t", 0, 9))),
                bad(
                        "seen by a reader, and gone in the end",
                        Invariant.C1,
                        all(without(event -> event instanceof Logged logged && logged.offset() == 9))),
                bad(
                        "all is gone in the end",
                        Invariant.C1,
                        all(without(event -> event instanceof Logged), with(new Listed(late)))),
                good("nobody looked in the end", without(event -> event instanceof Logged)),
                good("all was there in the end", with(new Listed(late))),
                good(
                        "unknown, and nowhere",
                        with(new Publish(0, "q", "t", null, "gone", Way.PUBLISH), new End(1, "q", Outcome.UNKNOWN))),
                good(
                        "its publisher died, and it is nowhere",
                        with(new Publish(0, "q", "t", null, "gone", Way.PUBLISH))),
                good(
                        "not handled, but a dead letter",
                        all(
                                without(event -> isHandled(event, 9)
                                        || (event instanceof Effect effect && effect.offset() == 9)),
                                with(new Letter(late, "g", "t", 0, 9)))),
                good(
                        "not handled, but a declared gap",
                        all(
                                without(event -> isHandled(event, 9)
                                        || (event instanceof Effect effect && effect.offset() == 9)),
                                with(new Gap(late, "g", "t", 0, 9, 10)))),
                good(
                        "a group that has left is owed nothing",
                        with(new Event.From(0, "other", "t", 0, 0), new Left(1, "other", "t"))),
                good("a group that began later is owed nothing before", with(new Event.From(0, "other", "t", 0, 10))),
                // C2
                bad(
                        "failed, and there",
                        Invariant.C2,
                        all(
                                without(event -> isEnd(event, "p9")),
                                with(new End(9 * SECOND + 10, "p9", Outcome.FAILED)))),
                bad(
                        "there, and never published",
                        Invariant.C2,
                        without(event -> event instanceof Publish publish
                                && publish.value().equals("v9"))),
                bad(
                        "in another topic than it was published to",
                        Invariant.C2,
                        all(
                                without(event -> event instanceof Publish publish
                                        && publish.value().equals("v9")),
                                with(new Publish(9 * SECOND, "p9", "another", keyOf(9), "v9", Way.PUBLISH)))),
                good(
                        "failed, and then published again",
                        all(with(
                                new Publish(0, "q", "t", keyOf(9), "v9", Way.PUBLISH),
                                new End(1, "q", Outcome.FAILED)))),
                bad(
                        "a row of business without its message",
                        Invariant.C2,
                        with(new Publish(0, "q", "t", null, "gone", Way.WORK), new Business(late, "t", "gone"))),
                bad(
                        "a message without its row of business",
                        Invariant.C2,
                        all(
                                without(event -> event instanceof Publish publish
                                        && publish.value().equals("v9")),
                                with(new Publish(9 * SECOND, "p9", "t", keyOf(9), "v9", Way.WORK)))),
                good(
                        "a message with its row of business",
                        all(
                                without(event -> event instanceof Publish publish
                                        && publish.value().equals("v9")),
                                with(
                                        new Publish(9 * SECOND, "p9", "t", keyOf(9), "v9", Way.WORK),
                                        new Business(late, "t", "v9")))),
                bad(
                        "half of what was published together",
                        Invariant.C2,
                        all(
                                without(event -> isEnd(event, "p9")),
                                with(new Publish(9 * SECOND, "p9", "t", null, "gone", Way.PUBLISH)))),
                good(
                        "all of what was published together by who died",
                        all(
                                without(event -> isEnd(event, "p9") || isEnd(event, "p8")),
                                without(event -> event instanceof Publish publish
                                        && publish.value().equals("v9")),
                                with(new Publish(8 * SECOND, "p8", "t", keyOf(9), "v9", Way.PUBLISH)))),
                // C3
                bad(
                        "one value at two offsets",
                        Invariant.C3,
                        with(new Logged(late, "t", 0, 10, keyOf(9), "v9"), new Gap(late, "g", "t", 0, 10, 11))),
                bad(
                        "two values at one offset",
                        Invariant.C3,
                        with(
                                new Publish(0, "q", "t", null, "else", Way.PUBLISH),
                                new Read(late, "second", "t", 0, 9, "else"))),
                bad(
                        "a hole in the log",
                        Invariant.C3,
                        all(
                                without(event -> isSeen(event, 5)),
                                without(event -> event instanceof Publish publish
                                        && publish.value().equals("v5")),
                                without(event -> event instanceof Read))),
                // C4
                bad(
                        "later published, earlier in the log",
                        Invariant.C4,
                        all(
                                without(event -> event instanceof Publish publish
                                        && publish.value().equals("v2")),
                                without(event -> isEnd(event, "p2")),
                                with(
                                        new Publish(5 * SECOND, "p2", "t", keyOf(2), "v2", Way.PUBLISH),
                                        new End(5 * SECOND + 5, "p2", Outcome.OK)))),
                good(
                        "published for later",
                        all(
                                without(event -> event instanceof Publish publish
                                        && publish.value().equals("v5")),
                                with(new Publish(0, "p5", "t", keyOf(5), "v5", Way.LATER)))),
                // C5
                bad(
                        "a reader skips one",
                        Invariant.C5,
                        without(event -> event instanceof Read read && read.offset() == 5)),
                // C6
                bad(
                        "a message is started before the one before it of its key",
                        Invariant.C6,
                        all(
                                without(event ->
                                        isHandled(event, 4) || (event instanceof Cursor cursor && cursor.offset() > 4)),
                                with(again(7 * SECOND, 1, 4)))),
                bad(
                        "two of a key at once",
                        Invariant.C6,
                        all(
                                without(event -> isEnd(event, "h4") || event instanceof Cursor),
                                with(new End(6 * SECOND + SECOND, "h4", Outcome.OK)))),
                bad(
                        "an owner that was replaced goes on",
                        Invariant.C6,
                        all(
                                with(new Fault(0, "f", "pause")),
                                with(again(10 * SECOND, 2, 7)),
                                with(again(11 * SECOND, 1, 9)),
                                with(again(12 * SECOND, 1, 9)))),
                good(
                        "an owner that was replaced starts one more",
                        all(
                                with(new Fault(0, "f", "pause")),
                                with(again(10 * SECOND, 2, 7)),
                                with(again(11 * SECOND, 1, 9)))),
                good(
                        "two of a key in one call",
                        all(
                                without(event -> isHandled(event, 4) || isHandled(event, 6) || event instanceof Cursor),
                                with(
                                        start(4 * SECOND + 50, "batch", 1, 4),
                                        start(4 * SECOND + 50, "batch", 1, 6),
                                        new End(4 * SECOND + 60, "batch", Outcome.OK)))),
                good(
                        "tried again until it succeeds",
                        all(
                                without(event -> isEnd(event, "h4")),
                                with(new End(4 * SECOND + SECOND / 2 + 5, "h4", Outcome.FAILED)),
                                with(again(4 * SECOND + SECOND / 2 + 6, 1, 4)))),
                bad(
                        "started before the one before it of its key was given up",
                        Invariant.C6,
                        all(givenUp(4), with(new Letter(late, "g", "t", 0, 4, 7 * SECOND)))),
                good(
                        "started when the one before it of its key was given up",
                        all(givenUp(4), with(new Letter(late, "g", "t", 0, 4, 5 * SECOND)))),
                good(
                        "started when the one before it of its key was given up, as far as anybody knows",
                        all(givenUp(4), with(new Letter(late, "g", "t", 0, 4)))),
                bad(
                        "started before there was a gap before it",
                        Invariant.C6,
                        all(
                                givenUp(4),
                                with(new Gap(late, "g", "t", 0, 3, 5, 7 * SECOND), new Gap(late, "g", "t", 0, 3, 4)))),
                good(
                        "started when there was a gap before it",
                        all(
                                givenUp(4),
                                with(
                                        new Gap(late, "g", "t", 0, 2, 6, 7 * SECOND),
                                        new Gap(late, "g", "t", 0, 4, 5, 5 * SECOND)))),
                // What hides behind something else.
                bad(
                        "redelivered in another order",
                        Invariant.C6,
                        all(
                                with(new Fault(8 * SECOND, "f", "kill")),
                                with(again(11 * SECOND, 2, 8)),
                                with(again(12 * SECOND, 2, 6)))),
                bad(
                        "an owner that was replaced goes on with a key that the new one has not come to",
                        Invariant.C6,
                        all(
                                with(new Fault(9 * SECOND, "f", "pause")),
                                with(again(11 * SECOND, 2, 8)),
                                with(again(12 * SECOND, 1, 9)),
                                with(again(13 * SECOND, 1, 9)))),
                bad(
                        "twice by one owner, which has no transaction that could have failed",
                        Invariant.C8,
                        all(
                                without(event -> event instanceof Effect),
                                with(new Fault(9 * SECOND, "f", "kill")),
                                with(again(11 * SECOND, 1, 9)))),
                bad(
                        "at two members at once, and one fails in the end",
                        Invariant.C8,
                        all(
                                without(event -> isEnd(event, "h9")),
                                without(event -> event instanceof Cursor cursor && cursor.offset() > 9),
                                with(again(11 * SECOND, 2, 9)),
                                with(new End(12 * SECOND, "h9", Outcome.FAILED)))),
                bad(
                        "a key in two partitions",
                        Invariant.C3,
                        with(
                                new Publish(0, "q", "t", "k1", "v10", Way.PUBLISH),
                                new Logged(late, "t", 1, 0, "k1", "v10"),
                                new Event.From(0, "g", "t", 1, 1))),
                bad(
                        "seen with another key",
                        Invariant.C3,
                        all(
                                without(event -> event instanceof Logged logged && logged.offset() == 9),
                                with(new Logged(late, "t", 0, 9, null, "v9")))),
                bad(
                        "published with another key",
                        Invariant.C2,
                        all(
                                without(event -> event instanceof Publish publish
                                        && publish.value().equals("v9")),
                                with(new Publish(9 * SECOND, "p9", "t", "k0", "v9", Way.PUBLISH)))),
                bad(
                        "the beginning of the log is gone",
                        Invariant.C1,
                        without(event -> event instanceof Logged logged && logged.offset() < 3)),
                good(
                        "the beginning of the log was dropped",
                        all(
                                without(event -> event instanceof Logged logged && logged.offset() < 3),
                                with(new First(9 * SECOND, "t", 0, 3)))),
                new Case(
                        "recorded by a group that did nothing",
                        List.of(Invariant.C1, Invariant.C9),
                        with(new Cursor(late, "lazy", "t", 0, 10))),
                bad("an effect of a dead letter", Invariant.C10, with(new Letter(late, "g", "t", 0, 9))),
                good(
                        "gaps within gaps",
                        all(
                                without(event -> isHandled(event, 9)
                                        || (event instanceof Effect effect && effect.offset() == 9)),
                                with(
                                        new Gap(late, "g", "t", 0, 5, 6),
                                        new Gap(late, "g", "t", 0, 4, 10),
                                        new Gap(late, "g", "t", 0, 7, 8)),
                                without(event -> event instanceof Effect))),
                // C7
                bad(
                        "an old owner's effect is accepted after a new one's",
                        Invariant.C7,
                        all(
                                without(event -> event instanceof Effect effect && effect.offset() == 4),
                                with(new Effect(4 * SECOND + SECOND / 2 + 20, "g", "t", 0, 4, 2, "v4")))),
                bad(
                        "an old owner's record is accepted after a new one's effect",
                        Invariant.C7,
                        with(new Accepted(12 * SECOND, "g", "t", 0, 0))),
                bad(
                        "an old owner's record is accepted after a new one's, and nobody tells an effect",
                        Invariant.C7,
                        with(new Accepted(1, "h", "t", 0, 2), new Accepted(2, "h", "t", 0, 1), new Left(3, "h", "t"))),
                // C8
                bad("twice without a fault", Invariant.C8, with(again(11 * SECOND, 1, 9))),
                bad(
                        "twice, long after a fault",
                        Invariant.C8,
                        all(
                                with(new Fault(0, "f", "kill"), new End(1, "f", Outcome.OK)),
                                with(again(40 * SECOND, 2, 9)))),
                bad(
                        "twice after a fault, though it was done long before it",
                        Invariant.C8,
                        all(
                                with(new Fault(9 * SECOND, "f", "kill"), new End(9 * SECOND + 1, "f", Outcome.OK)),
                                with(again(12 * SECOND, 2, 1)))),
                bad(
                        "twice, long after a fault, by the same owner",
                        Invariant.C8,
                        all(
                                with(new Fault(10 * SECOND, "f", "kill"), new End(10 * SECOND + 1, "f", Outcome.OK)),
                                with(again(60 * SECOND, 1, 9)))),
                good(
                        "twice, long after a fault, when a new owner has come to it",
                        all(
                                with(new Fault(10 * SECOND, "f", "kill"), new End(10 * SECOND + 1, "f", Outcome.OK)),
                                with(again(60 * SECOND, 2, 9)))),
                good(
                        "twice after a fault",
                        all(
                                with(new Fault(10 * SECOND, "f", "kill"), new End(10 * SECOND + 1, "f", Outcome.OK)),
                                with(again(12 * SECOND, 2, 9)))),
                bad(
                        "done long after one fault and long before the next",
                        Invariant.C8,
                        all(
                                fault(0, 1, null),
                                fault(13 * SECOND, 13 * SECOND + 1, null),
                                with(again(14 * SECOND, 2, 9)))),
                bad(
                        "begun long after a fault, and its end is not known",
                        Invariant.C8,
                        all(neverEnded(9), fault(0, 5 * SECOND, null), with(again(14 * SECOND, 2, 9)))),
                good(
                        "begun before a fault, its end is not known, and a new owner comes much later",
                        all(neverEnded(9), fault(10 * SECOND, 11 * SECOND, null), with(again(70 * SECOND, 2, 9)))),
                good(
                        "ended long after its owner was stopped, while a new one had it",
                        all(
                                neverEnded(9),
                                fault(10 * SECOND, 11 * SECOND, null),
                                with(new End(50 * SECOND, "h9", Outcome.OK)),
                                with(again(12 * SECOND, 2, 9)))),
                good(
                        "ended long after its owner was stopped, and then a new one had it",
                        all(
                                neverEnded(9),
                                fault(10 * SECOND, 11 * SECOND, null),
                                with(new End(50 * SECOND, "h9", Outcome.OK)),
                                with(again(70 * SECOND, 2, 9)))),
                bad(
                        "twice after a fault that neither owner has felt",
                        Invariant.C8,
                        all(fault(10 * SECOND, 10 * SECOND + 1, "m3"), with(again(12 * SECOND, 2, 9)))),
                good(
                        "twice after a fault of its owner",
                        all(fault(10 * SECOND, 10 * SECOND + 1, "m1"), with(again(12 * SECOND, 2, 9)))),
                good(
                        "twice after a fault of who then does it again",
                        all(fault(10 * SECOND, 10 * SECOND + 1, "m2"), with(again(12 * SECOND, 2, 9)))),
                good(
                        "twice after a long fault within which others came and went",
                        all(
                                fault(9 * SECOND, 13 * SECOND, null),
                                fault(11 * SECOND, 11 * SECOND + 1, "m3"),
                                fault(12 * SECOND + 1, 12 * SECOND + 2, "m3"),
                                with(again(14 * SECOND, 2, 9)))),
                // C9
                bad("recorded before it was handled", Invariant.C9, with(new Cursor(9 * SECOND, "g", "t", 0, 10))),
                bad(
                        "recorded, and its handler died",
                        Invariant.C9,
                        all(
                                without(event -> isEnd(event, "h9")),
                                with(new Fault(9 * SECOND, "f", "kill")),
                                with(again(12 * SECOND, 2, 9)))),
                // C10
                bad("two effects", Invariant.C10, with(new Effect(late, "g", "t", 0, 9, 1, "v9"))),
                bad(
                        "no effect",
                        Invariant.C10,
                        without(event -> event instanceof Effect effect && effect.offset() == 9)),
                bad(
                        "effects of a key out of order",
                        Invariant.C10,
                        all(
                                without(event -> event instanceof Effect effect && effect.offset() == 4),
                                with(new Effect(late, "g", "t", 0, 4, 1, "v4")))),
                bad("an effect of something else", Invariant.C10, with(new Effect(late, "g", "t", 0, 10, 1, "v10"))),
                bad(
                        "no effect at all",
                        Invariant.C10,
                        all(without(event -> event instanceof Effect), with(new Transactional(0, "g", "t")))),
                good("no effects, and nobody said that there are", without(event -> event instanceof Effect)),
                new Case(
                        "no effect of a group of which nothing else is known",
                        List.of(Invariant.C1, Invariant.C10),
                        with(new Transactional(0, "idle", "t"))),
                // C11
                bad(
                        "handled long after everything had stopped",
                        Invariant.C11,
                        all(
                                without(event -> isHandled(event, 9) || event instanceof Cursor),
                                with(again(90 * SECOND, 1, 9)))),
                // C12
                bad("dropped before it was read", Invariant.C12, all(with(new First(2 * SECOND, "t", 0, 7)))),
                bad(
                        "dropped before anybody saw it",
                        Invariant.C12,
                        with(new Cursor(2 * SECOND, "g", "t", 1, 0), new First(2 * SECOND, "t", 1, 7))),
                good(
                        "dropped when it was put aside",
                        all(
                                without(event -> event instanceof Cursor),
                                with(new Cursor(2 * SECOND, "g", "t", 0, 0, 7), new First(2 * SECOND, "t", 0, 7)))),
                bad(
                        "dropped before it was declared",
                        Invariant.C12,
                        all(
                                without(event -> event instanceof Cursor),
                                with(
                                        new Cursor(5 * SECOND, "g", "t", 0, 3),
                                        new First(5 * SECOND, "t", 0, 5),
                                        new Gap(late, "g", "t", 0, 3, 5, 7 * SECOND)))),
                good(
                        "dropped when it was declared, step by step",
                        all(
                                without(event -> event instanceof Cursor),
                                with(
                                        new Cursor(4 * SECOND, "g", "t", 0, 3),
                                        new First(4 * SECOND, "t", 0, 4),
                                        new Cursor(5 * SECOND, "g", "t", 0, 3),
                                        new First(5 * SECOND, "t", 0, 5),
                                        new Gap(late, "g", "t", 0, 3, 4, 4 * SECOND),
                                        new Gap(late, "g", "t", 0, 4, 5, 5 * SECOND)))),
                good("dropped after it was read", with(new First(9 * SECOND, "t", 0, 7))));
    }

    @Test
    void the_most_that_came_again_for_one_fault_is_counted() throws IOException {
        Verdict verdict = check(all(
                        fault(8 * SECOND, 8 * SECOND + 1, null),
                        fault(13 * SECOND, 13 * SECOND + 1, null),
                        with(again(9 * SECOND - 2, 2, 7)),
                        with(again(12 * SECOND, 2, 8)),
                        with(again(12 * SECOND, 2, 9)),
                        with(again(14 * SECOND, 3, 9)))
                .apply(clean()));
        assertThat(verdict.figures().duplicates()).isEqualTo(4);
        assertThat(verdict.figures().mostOfOneFault()).isEqualTo(3);
    }

    @TestFactory
    List<DynamicTest> every_way_to_spoil_it_is_found() {
        return cases().stream()
                .map(each -> DynamicTest.dynamicTest(each.name, () -> {
                    Verdict verdict = check(each.change.apply(clean()));
                    assertThat(List.copyOf(verdict.counts().keySet()))
                            .as(verdict.told().toString())
                            .isEqualTo(each.expected);
                }))
                .toList();
    }

    @Test
    void a_report_names_the_message_and_shows_what_was_written_about_it() throws IOException {
        Verdict verdict = check(with(
                        new Fault(8 * SECOND, "f", "the server is killed"),
                        new Fault(60 * SECOND, "f2", "too late to matter"))
                .apply(without(event -> isHandled(event, 8)).apply(clean())));
        Verdict.Told lost = verdict.told().getFirst();
        assertThat(lost.violation().what()).contains("group g", "\"v8\"", "t/0@8");
        assertThat(lost.lines())
                .anyMatch(line -> line.contains("publish p8 t =k0 v8"))
                .anyMatch(line -> line.contains("ok p8"))
                .anyMatch(line -> line.contains("the server is killed"))
                .noneMatch(line -> line.contains("v7"));
    }

    @Test
    void a_line_that_its_writer_did_not_live_to_end_is_left_out_and_any_other_is_refused() throws IOException {
        Path file = directory.resolve("a.journal");
        try (Journal journal = Journal.create(directory, "a")) {
            journal.write(new Publish(1, "p", "t", null, "v", Way.PUBLISH));
        }
        Files.writeString(file, "2\tstopped", StandardOpenOption.APPEND);
        assertThat(Checker.check(directory, Limits.standard()).figures().events())
                .isEqualTo(1);
        Files.writeString(file, "\n3\tstart\tx", StandardOpenOption.APPEND);
        assertThat(Checker.check(directory, Limits.standard()).figures().events())
                .isEqualTo(2);
        Files.writeString(file, "\n", StandardOpenOption.APPEND);
        assertThatThrownBy(() -> Checker.check(directory, Limits.standard()))
                .hasMessageContaining("a.journal, line 3")
                .hasMessageContaining("a field is missing");
    }
}
