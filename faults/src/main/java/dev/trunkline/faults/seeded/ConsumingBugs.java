package dev.trunkline.faults.seeded;

import dev.trunkline.checker.Event;
import dev.trunkline.checker.Event.Outcome;
import dev.trunkline.checker.Invariant;
import dev.trunkline.faults.seeded.Miniature.Entry;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** Mistakes of those who read the log. */
final class ConsumingBugs {

    private ConsumingBugs() {}

    static List<SeededBug> all() {
        return List.of(
                new SeededBug("recorded before it is handled", Invariant.C9, ConsumingBugs::recordedFirst),
                new SeededBug("no fence: an owner that was replaced commits", Invariant.C7, ConsumingBugs::noFence),
                new SeededBug("an owner that was replaced goes on", Invariant.C6, ConsumingBugs::zombieGoesOn),
                new SeededBug("effect and progress in two transactions", Invariant.C10, ConsumingBugs::twoTransactions),
                new SeededBug("the latest position wins", Invariant.C9, ConsumingBugs::latestWins),
                new SeededBug("two messages of a key at once", Invariant.C6, ConsumingBugs::parallelKey),
                new SeededBug(
                        "a failed message is tried later, the next of its key goes on",
                        Invariant.C6,
                        ConsumingBugs::retriedLater),
                new SeededBug(
                        "a new owner reads the position before the old one's last commit",
                        Invariant.C8,
                        ConsumingBugs::stalePosition),
                new SeededBug("two members read without a lock", Invariant.C8, ConsumingBugs::twoReaders),
                new SeededBug("a poison message is skipped without a word", Invariant.C1, ConsumingBugs::silentSkip),
                new SeededBug("woken by notifications only, and one is lost", Invariant.C1, ConsumingBugs::notifyOnly),
                new SeededBug("retention does not look at groups", Invariant.C12, ConsumingBugs::blindRetention),
                new SeededBug("retention drops twice after a crash", Invariant.C12, ConsumingBugs::doubleDrop));
    }

    /** The process dies in its handler; the next one goes on at the position. */
    private static void recordedFirst(Miniature log, boolean flawed) throws SQLException {
        log.publish("k", "v0");
        long epoch = log.takeOver();
        if (flawed) {
            log.record(1);
        }
        log.start("m1", epoch, log.entry(0));
        log.fault("kill the consumer");
        log.work("m2", log.takeOver());
    }

    /** An owner is stopped between its handler and the commit. */
    private static void noFence(Miniature log, boolean flawed) throws SQLException {
        log.publish("k", "v0");
        log.publish("k", "v1");
        long old = log.takeOver();
        Connection zombie = log.session();
        Entry first = log.entry(0);
        String call = log.start("m1", old, first);
        log.fault("stop the owner");
        long now = log.takeOver();
        for (Entry entry : log.read(0)) {
            log.handle("m2", now, entry);
            Connection session = log.session();
            Miniature.effect(session, now, entry);
            Miniature.setCursor(session, entry.offset() + 1);
            session.commit();
        }
        log.end(call, Outcome.OK);
        if (flawed || Miniature.isOwner(zombie, old)) {
            Miniature.effect(zombie, old, first);
            zombie.commit();
        }
    }

    /** An owner is stopped longer than its lease, and does not look at the clock when it goes on. */
    private static void zombieGoesOn(Miniature log, boolean flawed) throws SQLException {
        for (int i = 0; i < 4; i++) {
            log.publish("k", "v" + i);
        }
        long old = log.takeOver();
        log.handle("m1", old, log.entry(0));
        log.fault("stop the owner");
        long now = log.takeOver();
        log.work("m2", now);
        if (flawed) {
            log.handle("m1", old, log.entry(1));
            log.handle("m1", old, log.entry(2));
        }
    }

    /** The process dies between the two. */
    private static void twoTransactions(Miniature log, boolean flawed) throws SQLException {
        log.publish("k", "v0");
        long epoch = log.takeOver();
        Entry entry = log.entry(0);
        Connection session = log.session();
        log.handle("m1", epoch, entry);
        Miniature.effect(session, epoch, entry);
        if (flawed) {
            session.commit();
        }
        Miniature.setCursor(session, 1);
        log.fault("kill the consumer");
        session.rollback();
        long next = log.takeOver();
        for (Entry again : log.read(log.cursor())) {
            log.handle("m2", next, again);
            Connection other = log.session();
            Miniature.effect(other, next, again);
            Miniature.setCursor(other, again.offset() + 1);
            other.commit();
        }
    }

    /** Two handlers at once, and the one that began later ends first. */
    private static void latestWins(Miniature log, boolean flawed) throws SQLException {
        log.publish("a", "v0");
        log.publish("b", "v1");
        long epoch = log.takeOver();
        String slow = log.start("m", epoch, log.entry(0));
        log.handle("m", epoch, log.entry(1));
        if (flawed) {
            log.record(2);
        } else {
            log.observe();
        }
        log.end(slow, Outcome.OK);
        log.record(2);
    }

    private static void parallelKey(Miniature log, boolean flawed) throws SQLException {
        log.publish("k", "v0");
        log.publish("k", "v1");
        long epoch = log.takeOver();
        String first = log.start("m", epoch, log.entry(0));
        if (!flawed) {
            log.end(first, Outcome.OK);
        }
        log.handle("m", epoch, log.entry(1));
        if (flawed) {
            log.end(first, Outcome.OK);
        }
    }

    private static void retriedLater(Miniature log, boolean flawed) throws SQLException {
        log.publish("k", "v0");
        log.publish("k", "v1");
        long epoch = log.takeOver();
        log.end(log.start("m", epoch, log.entry(0)), Outcome.FAILED);
        if (flawed) {
            log.handle("m", epoch, log.entry(1));
            log.handle("m", epoch, log.entry(0));
        } else {
            log.handle("m", epoch, log.entry(0));
            log.handle("m", epoch, log.entry(1));
        }
    }

    /** A hand-over without any fault. */
    private static void stalePosition(Miniature log, boolean flawed) throws SQLException {
        log.publish("k", "v0");
        log.publish("k", "v1");
        long old = log.takeOver();
        long stale = log.cursor();
        log.handle("m1", old, log.entry(0));
        log.record(1);
        long now = log.takeOver();
        for (Entry entry : log.read(flawed ? stale : log.cursor())) {
            log.handle("m2", now, entry);
        }
    }

    private static void twoReaders(Miniature log, boolean flawed) throws SQLException {
        log.publish(null, "v0");
        log.publish(null, "v1");
        List<Entry> seen = log.read(0);
        List<Entry> seenToo = flawed ? log.read(0) : List.of();
        long epoch = log.takeOver();
        seen.forEach(entry -> log.handle("m1", epoch, entry));
        seenToo.forEach(entry -> log.handle("m2", epoch, entry));
    }

    private static void silentSkip(Miniature log, boolean flawed) throws SQLException {
        log.publish("k", "poison");
        log.publish("k", "v1");
        long epoch = log.takeOver();
        for (int attempt = 0; attempt < 3; attempt++) {
            log.end(log.start("m", epoch, log.entry(0)), Outcome.FAILED);
        }
        if (!flawed) {
            log.journal().write(new Event.Letter(System.nanoTime(), Miniature.GROUP, Miniature.TOPIC, 0, 0));
        }
        log.handle("m", epoch, log.entry(1));
    }

    /** What was published is looked for only when somebody rings, and the last ring was lost. */
    private static void notifyOnly(Miniature log, boolean flawed) throws SQLException {
        long epoch = log.takeOver();
        log.publish(null, "v0");
        log.work("m", epoch);
        log.publish(null, "v1");
        log.fault("kill the listener");
        boolean rings = false;
        boolean polls = !flawed;
        if (rings || polls) {
            log.work("m", epoch);
        }
    }

    private static void blindRetention(Miniature log, boolean flawed) throws SQLException {
        log.publish(null, "v0");
        log.publish(null, "v1");
        long epoch = log.takeOver();
        log.handle("m", epoch, log.entry(0));
        log.record(1);
        Entry second = log.entry(1);
        log.drop(flawed ? 2 : log.cursor());
        log.handle("m", epoch, second);
        log.record(2);
    }

    /** A crash after the drop, before it was noted: it is done again, by its size and not by its name. */
    private static void doubleDrop(Miniature log, boolean flawed) throws SQLException {
        for (int i = 0; i < 4; i++) {
            log.publish(null, "v" + i);
        }
        long epoch = log.takeOver();
        log.handle("m", epoch, log.entry(0));
        log.record(1);
        List<Entry> rest = log.read(1);
        log.drop(1);
        log.fault("kill upkeep");
        log.drop(flawed ? 2 : 1);
        rest.forEach(entry -> log.handle("m", epoch, entry));
        log.record(4);
    }
}
