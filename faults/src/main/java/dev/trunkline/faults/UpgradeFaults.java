package dev.trunkline.faults;

import dev.trunkline.Trunkline;
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

    private UpgradeFaults() {}

    static List<Fault> all() {
        return List.of(new Fault("F30", "restart all processes in turn, and migrate", UpgradeFaults::roll));
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
