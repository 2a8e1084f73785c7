package dev.trunkline.faults;

import dev.trunkline.faults.Fault.Site;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;

/** What is done to clocks: those of processes are wrong and change, and that of the server goes forth and back. Nobody may come to think that somebody is dead. */
final class ClockFaults {

    private static final List<Duration> ERRORS =
            List.of(Duration.ofMinutes(5), Duration.ofMinutes(-5), Duration.ofHours(1), Duration.ofHours(-1));

    private static final List<Duration> STEPS = List.of(Duration.ofMinutes(5), Duration.ofHours(1));

    private static final List<String> KEEPING = List.of(
            "select trunkline.create_topic('kept', 'PUB_SUB', partitions => 1, retention => '30 min', unheard_retention => '30 min')",
            "select trunkline.publish('kept', 'a message')",
            "call trunkline.relay_now()",
            "select trunkline.roll_segment(id) from trunkline.topic where name = 'kept'");

    private ClockFaults() {}

    static List<Fault> all() {
        return List.of(new Fault("F24", "set clocks of processes and of the server", ClockFaults::set)
                .on(Site.CLOCKS)
                .sparingPublishers());
    }

    /**
     * The clock of the server goes back, and then to where it has never been: what was to come at a time comes. Something
     * that is due tomorrow by a clock that is right again would have to wait for tomorrow.
     */
    private static void set(Trial trial) throws Exception {
        long ended = ended(trial);
        keep(trial);
        trial.pause(Duration.ofSeconds(1));
        trial.oneOf(trial.clocks().processes()).set(trial.draw(ERRORS));
        Duration now = trial.clocks().server().error();
        step(trial, now.minus(trial.draw(STEPS)));
        trial.awaitMore(100);
        requireKept(trial);
        step(trial, now.plus(trial.oneOf(STEPS)));
        trial.awaitMore(100);
        if (ended(trial) > ended) {
            throw new IllegalStateException("a session was ended though all were alive");
        }
    }

    /** A message that is to be kept for a while, in a segment that is over, so that it is up to the clock when it goes. */
    private static void keep(Trial trial) throws SQLException {
        try (Connection connection = trial.connect();
                Statement statement = connection.createStatement()) {
            for (String sql : KEEPING) {
                statement.execute(sql);
            }
        }
    }

    /** By no clock of a process, and by none of the server that has gone back, is its time over. */
    private static void requireKept(Trial trial) throws SQLException {
        trial.standing().number("select trunkline.trim(id) from trunkline.topic where name = 'kept'");
        if (trial.standing().number("select count(*) from trunkline.messages where topic = 'kept'") != 1) {
            throw new IllegalStateException("a message was dropped before its time");
        }
        trial.standing().number("select count(*) from trunkline.drop_topic('kept')");
    }

    private static long ended(Trial trial) throws SQLException {
        return trial.standing().number("select count(*) from trunkline.session where ended_at is not null");
    }

    /** No transaction with an effect or a record is under way, so that it is known by which clock each was committed. */
    private static void step(Trial trial, Duration error) throws SQLException, IOException {
        try (Connection connection = trial.connect();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            for (String table : List.of("effect", "accepted")) {
                statement.execute("alter table " + table + " alter column clock_error set default '" + error.toSeconds()
                        + " seconds'");
            }
            trial.clocks().server().set(error);
            connection.commit();
        }
    }
}
