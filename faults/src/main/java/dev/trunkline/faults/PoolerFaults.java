package dev.trunkline.faults;

import dev.trunkline.faults.Fault.Site;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/** What a pooler in transaction mode does to those behind it. */
final class PoolerFaults {

    private static final String LEFT_LOCKS = """
            select count(*) from pg_locks l join pg_stat_activity a using (pid)
            where l.locktype = 'advisory' and l.database = (select oid from pg_database where datname = current_database()) and a.state = 'idle'""";

    private static final String SWAP = "swap";
    private static final List<String> DEEDS = List.of(SWAP, "cut");

    private PoolerFaults() {}

    static List<Fault> all() {
        return List.of(new Fault("F16", "pool by transaction, swap and cut connections", PoolerFaults::shuffle)
                .on(Site.POOLER));
    }

    /** A lock that a session had taken for itself would stay with the pooled connection. */
    private static void shuffle(Trial trial) throws Exception {
        trial.pause(Duration.ofSeconds(1));
        if (trial.draw(DEEDS).equals(SWAP)) {
            trial.pooler().swap();
        } else {
            trial.harm(() -> trial.pooler().cutSome(trial.random()));
        }
        trial.awaitMore(100);
        Standing.await("no advisory lock is left", () -> noLockIsLeft(trial));
    }

    private static boolean noLockIsLeft(Trial trial) throws SQLException {
        return trial.standing().number(LEFT_LOCKS) == 0;
    }
}
