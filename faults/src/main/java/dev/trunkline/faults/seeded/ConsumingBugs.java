package dev.trunkline.faults.seeded;

import dev.trunkline.checker.Event.Outcome;
import dev.trunkline.checker.Invariant;
import dev.trunkline.faults.seeded.Miniature.Entry;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** Mistakes of those who read the log. */
final class ConsumingBugs {

    private static final Duration LEASE = Duration.ofMillis(50);

    private ConsumingBugs() {}

    static List<SeededBug> all() {
        return List.of(
                new SeededBug("recorded before it is handled", Invariant.C9, ConsumingBugs::recordedFirst),
                new SeededBug("no fence: an owner that was replaced commits", Invariant.C7, ConsumingBugs::noFence),
                new SeededBug(
                        "no fence: an owner that was replaced records what it did, and it has no effects",
                        Invariant.C7,
                        ConsumingBugs::noFenceForRecords),
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
            log.effect(session, now, entry);
            log.setCursor(session, entry.offset() + 1);
            session.commit();
        }
        log.end(call, Outcome.OK);
        if (flawed || log.isOwner(zombie, old)) {
            log.effect(zombie, old, first);
            zombie.commit();
        }
    }

    /** The same, of a handler that does nothing in the database: what is recorded late says what is so, and is wrong all the same. */
    private static void noFenceForRecords(Miniature log, boolean flawed) throws SQLException {
        log.publish("k", "v0");
        long old = log.takeOver();
        Connection zombie = log.session();
        String call = log.start("m1", old, log.entry(0));
        log.fault("stop the owner");
        long now = log.takeOver();
        Connection session = log.session();
        log.handle("m2", now, log.entry(0));
        log.setCursor(session, 1);
        log.accept(session, now);
        session.commit();
        log.end(call, Outcome.OK);
        if (flawed || log.isOwner(zombie, old)) {
            log.setCursor(zombie, 1);
            log.accept(zombie, old);
            zombie.commit();
        }
    }

    /** An owner is stopped longer than its lease, and does not look at the clock when it goes on with what it has in hand. */
    private static void zombieGoesOn(Miniature log, boolean flawed) throws Exception {
        for (int i = 0; i < 4; i++) {
            log.publish("k", "v" + i);
        }
        long old = log.takeOver();
        long lease = System.nanoTime() + LEASE.toNanos();
        Iterator<Entry> inHand = log.read(0).iterator();
        log.handle("m1", old, inHand.next());
        log.fault("stop the owner");
        TimeUnit.NANOSECONDS.sleep(lease - System.nanoTime());
        log.work("m2", log.takeOver());
        while (inHand.hasNext() && (flawed || System.nanoTime() - lease < 0)) {
            log.handle("m1", old, inHand.next());
        }
    }

    /** The process dies between the two. */
    private static void twoTransactions(Miniature log, boolean flawed) throws SQLException {
        log.publish("k", "v0");
        long epoch = log.takeOver();
        Entry entry = log.entry(0);
        Connection session = log.session();
        log.handle("m1", epoch, entry);
        log.effect(session, epoch, entry);
        if (flawed) {
            session.commit();
        }
        log.setCursor(session, 1);
        log.fault("kill the consumer");
        session.rollback();
        long next = log.takeOver();
        for (Entry again : log.read(log.cursor())) {
            log.handle("m2", next, again);
            Connection other = log.session();
            log.effect(other, next, again);
            log.setCursor(other, again.offset() + 1);
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

    /** A pool takes what comes, whatever key it has. */
    private static void parallelKey(Miniature log, boolean flawed) throws SQLException {
        log.publish("k", "v0");
        log.publish("k", "v1");
        long epoch = log.takeOver();
        CountDownLatch both = new CountDownLatch(2);
        try (ExecutorService pool = Executors.newFixedThreadPool(flawed ? 2 : 1)) {
            for (Entry entry : log.read(0)) {
                pool.execute(() -> {
                    String call = log.start("m", epoch, entry);
                    both.countDown();
                    if (flawed) {
                        await(both);
                    }
                    log.end(call, Outcome.OK);
                });
            }
        }
    }

    /** Waits for another one, so that two at once meet. */
    private static void await(CountDownLatch latch) {
        try {
            if (!latch.await(1, TimeUnit.MINUTES)) {
                throw new IllegalStateException("the other one has not begun");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** What fails goes to the end of the line. */
    private static void retriedLater(Miniature log, boolean flawed) throws SQLException {
        log.publish("k", "v0");
        log.publish("k", "v1");
        long epoch = log.takeOver();
        Set<Long> failed = new HashSet<>();
        Deque<Entry> line = new ArrayDeque<>(log.read(0));
        for (Entry entry = line.poll(); entry != null; entry = line.poll()) {
            String call = log.start("m", epoch, entry);
            if (entry.offset() > 0 || !failed.add(entry.offset())) {
                log.end(call, Outcome.OK);
                continue;
            }
            log.end(call, Outcome.FAILED);
            if (flawed) {
                line.addLast(entry);
            } else {
                line.addFirst(entry);
            }
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
        for (Entry entry : log.read(0)) {
            boolean done = false;
            for (int attempt = 0; attempt < 3 && !done; attempt++) {
                done = !entry.value().equals("poison");
                log.end(log.start("m", epoch, entry), done ? Outcome.OK : Outcome.FAILED);
            }
            if (!done && !flawed) {
                log.giveUp(entry);
            }
        }
    }

    /** What was published is looked for only when somebody rings, and nobody heard the last ring. */
    private static void notifyOnly(Miniature log, boolean flawed) throws SQLException {
        long epoch = log.takeOver();
        Bell bell = Bell.listen(log);
        log.publish(null, "v0");
        Bell.ring(log);
        if (bell.rings(Duration.ofSeconds(10))) {
            log.work("m", epoch);
        }
        log.fault("kill the listener");
        bell.kill(log);
        log.publish(null, "v1");
        Bell.ring(log);
        boolean rings = Bell.listen(log).rings(Duration.ofMillis(200));
        if (rings || !flawed) {
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
