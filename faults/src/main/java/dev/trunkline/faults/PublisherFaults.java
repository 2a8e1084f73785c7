package dev.trunkline.faults;

import dev.trunkline.faults.PublisherMain.Habits;
import java.util.List;

/** What publishers do to others. */
final class PublisherFaults {

    private static final Habits LATE = new Habits(6, 10, 5_000, 5);
    private static final Habits FICKLE = new Habits(6, 10, 200, 20);

    private PublisherFaults() {}

    static List<Fault> all() {
        return List.of(
                new Fault("F7", "commit up to 5 s after the publish", trial -> trial.awaitMore(100))
                        .with(LATE)
                        .counting(Tally.TRANSACTIONS)
                        .sparingPublishers(),
                new Fault("F8", "roll 20 % back", trial -> trial.awaitMore(100))
                        .with(FICKLE)
                        .counting(Tally.ROLLBACKS)
                        .sparingPublishers());
    }
}
