package dev.trunkline.faults;

import dev.trunkline.IncompatibleDatabaseException;
import dev.trunkline.Trunkline;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;

/** What an upgrade does: every process in turn ends as it should and is started again, while others migrate. It is no excuse for a duplicate. */
final class UpgradeFaults {

    private static final int MIGRATORS = 3;

    private static final String TOMORROW = """
            alter table trunkline.topic add column tomorrow int not null default 1;
            alter table trunkline.subscription add column tomorrow text;
            create table trunkline.tomorrow (id int primary key);
            insert into trunkline.migration (version, name) select max(version) + 1, 'tomorrow.sql' from trunkline.migration""";

    private static final String YESTERDAY = """
            delete from trunkline.migration where name = 'tomorrow.sql';
            drop table trunkline.tomorrow;
            alter table trunkline.subscription drop column tomorrow;
            alter table trunkline.topic drop column tomorrow""";

    private UpgradeFaults() {}

    static List<Fault> all() {
        return List.of(
                new Fault("F30", "restart all processes in turn, and migrate to a newer schema", UpgradeFaults::roll)
                        .sparingPublishers());
    }

    private static void roll(Trial trial) throws Exception {
        List<Crowd.Member> members = Stream.concat(
                        trial.crowd().consumers().stream(), trial.crowd().publishers().stream())
                .toList();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<?>> migrations = new ArrayList<>();
            for (int i = 0; i < MIGRATORS; i++) {
                migrations.add(threads.submit(() -> migrate(trial)));
            }
            for (Crowd.Member member : members) {
                trial.pause(Duration.ofSeconds(1));
                member.stop();
                member.startAgain();
                trial.awaitMore(50);
            }
            for (Future<?> migration : migrations) {
                migration.get();
            }
        }
        meetTomorrow(trial);
    }

    /**
     * A newer version migrates while this one is at work, as it would: in one transaction, by adding to what there is. This one goes on;
     * what is started of it from then on says why it does not.
     */
    private static void meetTomorrow(Trial trial) throws SQLException {
        try (Connection connection = trial.connect();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute(TOMORROW);
            connection.commit();
            trial.awaitMore(100);
            requireRefusal(trial);
            statement.execute(YESTERDAY);
            connection.commit();
        }
        trial.awaitMore(100);
    }

    private static void requireRefusal(Trial trial) {
        try {
            trial.open().close();
        } catch (IncompatibleDatabaseException e) {
            if (String.valueOf(e.getMessage()).contains("upgrade the library")) {
                return;
            }
            throw new IllegalStateException("it was refused for another reason", e);
        }
        throw new IllegalStateException("a schema of the future was opened");
    }

    private static void migrate(Trial trial) {
        for (int i = 0; i < 5; i++) {
            try (Trunkline trunkline = trial.open()) {
                trunkline.topics().list();
            }
            trial.pause(Duration.ofSeconds(1));
        }
    }
}
