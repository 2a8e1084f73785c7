package dev.trunkline.faults;

import dev.trunkline.ConsumerGroupAdmin;
import dev.trunkline.ConsumerGroupAdmin.CatchUp;
import dev.trunkline.ConsumerGroupAdmin.CatchUpState;
import dev.trunkline.ConsumerGroupAdmin.GroupState;
import dev.trunkline.ConsumerGroupAdmin.Health;
import dev.trunkline.GroupStatus;
import dev.trunkline.Trunkline;
import dev.trunkline.checker.Event;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** What becomes of a group beside those of the crowd when nobody serves it, or nobody serves it well. */
final class GroupFaults {

    private static final String GUEST = "guest";
    /** Between two looks at groups, at most. */
    private static final Duration LOOK = Duration.ofSeconds(6);
    /** Its session is ended; a look finds that nobody serves it; one after its time finds it dead. */
    private static final Duration DEAD_WITHIN =
            Address.LEASE.plusSeconds(2).plus(LOOK).plus(GuestMain.DEAD_AFTER).plus(LOOK);

    private static final Duration KEPT = Duration.ofSeconds(3);
    /** So many deaths in a day are flapping. */
    private static final int DEATHS = 3;

    private static final String FLAPS = "flaps";
    private static final List<String> FATES = List.of(FLAPS, "stalls");

    private GroupFaults() {}

    static List<Fault> all() {
        return List.of(
                new Fault("F22", "SIGKILL a group's only process, start it when it is dead", GroupFaults::resurrect)
                        .sparingPublishers(),
                new Fault("F23", "a group that gets nothing done", GroupFaults::flapOrStall).sparingPublishers());
    }

    // ---- dead and back ----

    private static void resurrect(Trial trial) throws Exception {
        try (Trunkline trunkline = trial.open()) {
            trunkline
                    .topics()
                    .alter(Workload.topic(Workload.ORDERS).withRetention(KEPT).withSegments(1024 * 1024, KEPT));
            ConsumerGroupAdmin admin = trunkline.admin();
            Crowd.Member guest = guest(trial);
            await(admin, GUEST, "it is served", state -> state.health() == Health.HEALTHY && state.done() > 0);
            int gaps = admin.gaps(GUEST, Workload.ORDERS).size();
            long died = System.nanoTime();
            trial.harm(guest::kill);
            await(admin, GUEST, "it is dead", state -> state.status() == GroupStatus.DEAD);
            trial.took("dead within", System.nanoTime() - died, DEAD_WITHIN);
            trial.awaitMore(100);
            Standing.await(
                    "what only it has not done is dropped, and it is told",
                    () -> admin.gaps(GUEST, Workload.ORDERS).size() > gaps);
            guest.startAgain();
            await(admin, GUEST, "it lives", state -> state.status() == GroupStatus.ACTIVE);
            Standing.await(
                    "it has caught up",
                    () -> admin.catchUp(GUEST, Workload.ORDERS)
                            .filter(GroupFaults::isDone)
                            .isPresent());
            trial.awaitMore(100);
        }
    }

    private static boolean isDone(CatchUp catchUp) {
        if (catchUp.total() > GuestMain.BOUND) {
            throw new IllegalStateException("it catches up with more than " + GuestMain.BOUND + ": " + catchUp);
        }
        return catchUp.state() == CatchUpState.DONE;
    }

    /** The one that dies again and again. */
    private static Crowd.Member guest(Trial trial) throws SQLException {
        if (trial.crowd().guests().isEmpty()) {
            trial.crowd().addGuest(GUEST, GuestMain.class, GUEST);
            trial.journal().write(starts(trial));
        }
        return trial.crowd().guests().getFirst();
    }

    private static List<Event> starts(Trial trial) throws SQLException {
        try (Connection connection = trial.connect();
                PreparedStatement select = connection.prepareStatement(
                        "select h.partition, h.starts[1] from trunkline.holder h join heard g on g.id = h.subscription where g.group_name = ?")) {
            select.setString(1, GUEST);
            List<Event> starts = new ArrayList<>();
            try (ResultSet row = select.executeQuery()) {
                while (row.next()) {
                    starts.add(
                            new Event.From(System.nanoTime(), GUEST, Workload.ORDERS, row.getInt(1), row.getLong(2)));
                }
            }
            return starts;
        }
    }

    // ---- no progress ----

    private static void flapOrStall(Trial trial) throws Exception {
        String name = "unlucky-" + trial.events();
        try (Trunkline trunkline = trial.open()) {
            Crowd.Member guest = trial.crowd().addGuest(GUEST, GuestMain.class, name, GuestMain.STUCK);
            if (trial.draw(FATES).equals(FLAPS)) {
                flap(trial, trunkline.admin(), name, guest);
            } else {
                stall(trial, trunkline.admin(), name);
            }
            trial.awaitMore(100);
            trunkline.admin().cancel(name, Workload.ORDERS);
            trial.journal().write(new Event.Left(System.nanoTime(), name, Workload.ORDERS));
            trial.harm(guest::kill);
        }
    }

    private static void flap(Trial trial, ConsumerGroupAdmin admin, String name, Crowd.Member guest) throws Exception {
        for (int i = 0; i < DEATHS; i++) {
            await(admin, name, "it is served", state -> state.status() == GroupStatus.ACTIVE && state.members() > 0);
            trial.harm(guest::kill);
            await(admin, name, "it is dead", state -> state.status() == GroupStatus.DEAD);
            guest.startAgain();
        }
        await(admin, name, "it is said to flap", state -> state.health() == Health.FLAPPING);
    }

    /**
     * Five minutes without progress are a stall, if something to do has been there for as long. They are not waited for: the group is made to have begun
     * earlier, and the messages that it has before it to have come earlier.
     */
    private static void stall(Trial trial, ConsumerGroupAdmin admin, String name) throws SQLException {
        await(admin, name, "it is served", state -> state.health() == Health.HEALTHY && state.members() > 0);
        trial.standing()
                .number(
                        "update trunkline.subscription set created_at = created_at - interval '5 minutes',"
                                + " status_since = status_since - interval '5 minutes' where group_name = ? returning 1",
                        name);
        await(admin, name, "it has something to do", state -> state.pending() > 0);
        // It holds back what it has not done: this segment stays.
        long segment = trial.standing()
                .number(
                        "select (select max(g.id) from trunkline.segment g where g.topic = t.id and g.bases[l.partition + 1] <= l.cursor)"
                                + " from trunkline.topic t cross join lateral trunkline.lag(?, t.name) l"
                                + " where t.name = ? and l.priority = 0 and l.lag > 0 limit 1",
                        name,
                        Workload.ORDERS);
        trial.standing()
                .number(
                        "with aged as (update trunkline.segment_" + segment
                                + " set appended_at = appended_at - interval '5 minutes' returning 1) select count(*) from aged");
        await(admin, name, "it is said to be stalled", state -> state.health() == Health.STALLED);
    }

    /** How a group may be. */
    @FunctionalInterface
    private interface Condition {
        boolean holds(GroupState state);
    }

    private static void await(ConsumerGroupAdmin admin, String group, String what, Condition condition) {
        Standing.await(
                group + ": " + what,
                () -> admin.find(group, Workload.ORDERS)
                        .filter(condition::holds)
                        .isPresent());
    }
}
