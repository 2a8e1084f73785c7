package dev.trunkline.faults.seeded;

import dev.trunkline.checker.Event.Outcome;
import dev.trunkline.checker.Event.Way;
import dev.trunkline.checker.Invariant;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Mistakes of those who write the log. */
final class PublishingBugs {

    private PublishingBugs() {}

    static List<SeededBug> all() {
        return List.of(
                new SeededBug(
                        "offsets from a sequence, and a commit is late", Invariant.C5, PublishingBugs::lateCommit),
                new SeededBug("offsets by max + 1 without a lock", Invariant.C3, PublishingBugs::maxPlusOne),
                new SeededBug("acknowledged before the commit", Invariant.C1, PublishingBugs::earlyAnswer),
                new SeededBug(
                        "published beside the transaction, which is rolled back", Invariant.C2, PublishingBugs::beside),
                new SeededBug("published again after an unknown commit", Invariant.C3, PublishingBugs::blindRetry),
                new SeededBug("a batch committed piece by piece", Invariant.C2, PublishingBugs::tornBatch),
                new SeededBug("offsets by the clocks of publishers", Invariant.C4, PublishingBugs::clocks),
                new SeededBug("an emptied log begins at 0 again", Invariant.C3, PublishingBugs::beginsAgain));
    }

    /** One takes its offset first and commits last; a reader looks in between. */
    private static void lateCommit(Miniature log, boolean flawed) throws Exception {
        String zero = log.begin(Way.PUBLISH, "zero");
        Connection first = log.session();
        insert(log, first, "zero", flawed);
        first.commit();
        log.end(zero, Outcome.OK);
        long next = log.follow(0);
        String late = log.begin(Way.PUBLISH, "late");
        String quick = log.begin(Way.PUBLISH, "quick");
        insert(log, first, "late", flawed);
        CompletableFuture<Void> other = CompletableFuture.runAsync(() -> {
            try {
                Connection second = log.session();
                insert(log, second, "quick", flawed);
                second.commit();
                log.end(quick, Outcome.OK);
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        });
        if (flawed) {
            other.join(); // otherwise it waits for the first
        }
        next = log.follow(next);
        first.commit();
        log.end(late, Outcome.OK);
        other.join();
        log.follow(next);
    }

    private static void insert(Miniature log, Connection session, String value, boolean bySequence)
            throws SQLException {
        long offset = bySequence ? Miniature.number(session, "select nextval('ticket')") : log.lockedOffset(session);
        log.insert(session, offset, null, value);
    }

    private static void maxPlusOne(Miniature log, boolean flawed) throws SQLException {
        if (!flawed) {
            log.publish(null, "one");
            log.follow(0);
            log.publish(null, "two");
            return;
        }
        String one = log.begin(Way.PUBLISH, "one");
        String two = log.begin(Way.PUBLISH, "two");
        Connection first = log.session();
        Connection second = log.session();
        String max = "select coalesce(max(\"offset\") + 1, 0) from log";
        log.insert(first, Miniature.number(first, max), null, "one");
        log.insert(second, Miniature.number(second, max), null, "two");
        first.commit();
        log.end(one, Outcome.OK);
        second.commit();
        log.end(two, Outcome.OK);
    }

    /** The publisher's process dies between its answer and the commit. */
    private static void earlyAnswer(Miniature log, boolean flawed) throws SQLException {
        String call = log.begin(Way.PUBLISH, "v");
        Connection session = log.session();
        log.insert(session, log.lockedOffset(session), null, "v");
        if (flawed) {
            log.end(call, Outcome.OK);
        }
        log.fault("kill the publisher");
        session.rollback();
    }

    private static void beside(Miniature log, boolean flawed) throws SQLException {
        String call = log.begin(Way.WORK, "v");
        Connection work = log.session();
        Connection publishing = flawed ? log.session() : work;
        Miniature.run(work, "insert into business values ('v')");
        log.insert(publishing, log.lockedOffset(publishing), null, "v");
        if (flawed) {
            publishing.commit();
        }
        work.rollback();
        log.end(call, Outcome.FAILED);
    }

    /** The answer to the first commit is lost. */
    private static void blindRetry(Miniature log, boolean flawed) throws SQLException {
        String call = log.begin(Way.PUBLISH, "v");
        Connection session = log.session();
        log.insert(session, log.lockedOffset(session), null, "v");
        session.commit();
        log.fault("cut the line before the answer");
        log.end(call, Outcome.UNKNOWN);
        String again = log.begin(Way.PUBLISH, "v");
        Connection other = log.session();
        long offset = log.lockedOffset(other);
        // With an idempotency key it would be known.
        boolean known = Miniature.number(other, "select count(*) from log where value = 'v'") > 0;
        if (flawed || !known) {
            log.insert(other, offset, null, "v");
            other.commit();
        } else {
            other.rollback();
        }
        log.end(again, Outcome.OK);
    }

    /** The publisher's process dies in the middle. */
    private static void tornBatch(Miniature log, boolean flawed) throws SQLException {
        log.begin(Way.PUBLISH, "a", "b", "c");
        Connection session = log.session();
        for (String value : List.of("a", "b")) {
            log.insert(session, log.lockedOffset(session), null, value);
            if (flawed) {
                session.commit();
            }
        }
        log.fault("kill the publisher");
        session.rollback();
    }

    /** The second publisher's clock is behind. */
    private static void clocks(Miniature log, boolean flawed) throws SQLException {
        publishBy(Clock.systemUTC(), log, flawed, "first");
        publishBy(Clock.offset(Clock.systemUTC(), Duration.ofSeconds(-5)), log, flawed, "second");
    }

    private static void publishBy(Clock clock, Miniature log, boolean flawed, String value) throws SQLException {
        String call = log.begin(Way.PUBLISH, value);
        Connection session = log.session();
        log.insert(session, flawed ? clock.millis() : log.lockedOffset(session), null, value);
        session.commit();
        log.end(call, Outcome.OK);
    }

    private static void beginsAgain(Miniature log, boolean flawed) throws SQLException {
        log.publish(null, "old");
        long next = log.follow(0);
        log.handle("m", log.takeOver(), log.entry(0));
        log.record(1);
        log.drop(1);
        if (flawed) {
            Connection session = log.session();
            Miniature.run(
                    session, "update lane set next = (select coalesce(max(\"offset\") + 1, 0) from log), first = 0");
            session.commit();
            next = 0;
        }
        log.publish(null, "new");
        for (Miniature.Entry entry : log.read(next)) {
            log.handle("m", 1, entry);
        }
    }
}
