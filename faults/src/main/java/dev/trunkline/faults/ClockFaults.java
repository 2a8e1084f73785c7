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
        trial.pause(Duration.ofSeconds(1));
        trial.oneOf(trial.clocks().processes()).set(trial.draw(ERRORS));
        Duration now = trial.clocks().server().error();
        step(trial, now.minus(trial.draw(STEPS)));
        trial.awaitMore(100);
        step(trial, now.plus(trial.oneOf(STEPS)));
        trial.awaitMore(100);
        if (ended(trial) > ended) {
            throw new IllegalStateException("a session was ended though all were alive");
        }
    }

    private static long ended(Trial trial) throws SQLException {
        return trial.number("select count(*) from trunkline.session where ended_at is not null");
    }

    /** No transaction with an effect is under way, so that it is known by which clock each was committed. */
    private static void step(Trial trial, Duration error) throws SQLException, IOException {
        try (Connection connection = trial.connect();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute(
                    "alter table effect alter column clock_error set default '" + error.toSeconds() + " seconds'");
            trial.clocks().server().set(error);
            connection.commit();
        }
    }
}
