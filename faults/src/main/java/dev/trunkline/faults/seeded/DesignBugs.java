package dev.trunkline.faults.seeded;

import dev.trunkline.checker.Event.Content;
import dev.trunkline.checker.Event.Outcome;
import dev.trunkline.checker.Event.Way;
import dev.trunkline.checker.Invariant;
import dev.trunkline.faults.seeded.Miniature.Entry;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/** Mistakes of whole designs: how work is found, cut up, handed out and thrown away. */
final class DesignBugs {

    private static final Duration POLL = SeededBugs.LIMITS.drain().plusSeconds(1);
    private static final int PARTITIONS = 3;

    private DesignBugs() {}

    static List<SeededBug> all() {
        return List.of(
                new SeededBug("keys are looked for only when a group joins", Invariant.C1, DesignBugs::keysOfThatTime),
                new SeededBug("a hash that has no absolute value", Invariant.C1, DesignBugs::absoluteHash),
                new SeededBug("a limit in a subquery that is run again", Invariant.C1, DesignBugs::limitAgain),
                new SeededBug(
                        "topics share a segment, and one is looked at before it is dropped",
                        Invariant.C12,
                        DesignBugs::sharedSegment),
                new SeededBug("looks first and listens then", Invariant.C11, DesignBugs::listensLate));
    }

    private static void keysOfThatTime(Miniature log, boolean flawed) throws SQLException {
        log.publish("k1", "v0");
        Connection session = log.session();
        Miniature.run(session, "create table known as select distinct key from log");
        session.commit();
        log.publish("k2", "v1");
        log.publish("k1", "v2");
        long epoch = log.takeOver();
        List<Entry> found = flawed ? log.read("key in (select k.key from known k)") : log.read(log.cursor());
        found.forEach(entry -> log.handle("m", epoch, entry));
    }

    private static void absoluteHash(Miniature log, boolean flawed) throws SQLException {
        List<Miniature> lanes = List.of(log, log.beside("t", 1), log.beside("t", 2));
        for (String key : List.of("a", "b", "polygenelubricants")) {
            int hash = key.hashCode();
            int partition = flawed ? Math.abs(hash) % PARTITIONS : (hash & Integer.MAX_VALUE) % PARTITIONS;
            publish(log, partition, key, "of " + key);
        }
        for (Miniature lane : lanes) {
            lane.work("m", lane.takeOver());
        }
    }

    /** Nobody has said that there is such a partition: it is there when something is put into it. */
    private static void publish(Miniature log, int partition, String key, String value) throws SQLException {
        String call = log.begin(Way.PUBLISH, new Content(key, value));
        Connection session = log.session();
        long offset = Miniature.number(
                session,
                "insert into lane as l values ('t', ?, 1, 0)"
                        + " on conflict (topic, partition) do update set next = l.next + 1 returning next - 1",
                partition);
        Miniature.run(session, "insert into log values ('t', ?, ?, ?, ?, 0)", partition, offset, key, value);
        session.commit();
        log.end(call, Outcome.OK);
    }

    /** The planner joins as it sees fit, and in a nested loop the subquery is run for every row: each time it finds another one. */
    private static void limitAgain(Miniature log, boolean flawed) throws SQLException {
        for (int i = 0; i < 3; i++) {
            log.publish(null, "v" + i);
        }
        Connection session = log.session();
        for (String way : List.of("hashjoin", "mergejoin", "hashagg", "sort", "material", "memoize")) {
            Miniature.run(session, "set enable_" + way + " = off");
        }
        Miniature.run(session, "create table queue as select \"offset\" as id from log");
        String pop = flawed
                ? "delete from queue where id in (select id from queue limit 1 for update skip locked) returning id"
                : "with first as materialized (select id from queue limit 1 for update skip locked)"
                        + " delete from queue q using first f where q.id = f.id returning q.id";
        long epoch = log.takeOver();
        while (Miniature.number(session, "select count(*) from queue") > 0) {
            long id = Miniature.number(session, pop);
            session.commit();
            log.handle("m", epoch, log.entry(id));
        }
    }

    private static void sharedSegment(Miniature log, boolean flawed) throws SQLException {
        Miniature other = log.beside("u", 0);
        log.publish(null, "mine", 1);
        other.publish(null, "yours", 1);
        log.work("m", log.takeOver());
        Connection upkeep = log.session();
        long unread = Miniature.number(
                upkeep,
                "select count(*) from log l join cursor c using (topic, partition)"
                        + " where l.segment = 1 and l.\"offset\" >= c.\"offset\""
                        + (flawed ? " and l.topic = 't'" : ""));
        if (unread == 0) {
            Miniature.run(upkeep, "delete from log where segment = 1");
            Miniature.run(
                    upkeep,
                    "update lane a set first = coalesce((select min(l.\"offset\") from log l"
                            + " where l.topic = a.topic and l.partition = a.partition), a.next)");
        }
        upkeep.commit();
        other.observe();
        other.work("m", other.takeOver());
    }

    /** What is published in between is found by chance, or when it is time to look again. */
    private static void listensLate(Miniature log, boolean flawed) throws SQLException {
        long epoch = log.takeOver();
        Bell early = Bell.listen(log);
        log.work("m", epoch);
        log.publish(null, "v0");
        Bell.ring(log);
        Bell late = Bell.listen(log);
        log.stop();
        (flawed ? late : early).rings(POLL);
        log.work("m", epoch);
    }
}
