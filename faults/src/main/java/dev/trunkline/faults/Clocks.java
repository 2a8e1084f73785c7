package dev.trunkline.faults;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * The clocks of a trial.
 *
 * @param processes those of some of its processes
 */
record Clocks(Clock server, List<Clock> processes) {

    static Clocks create(Path directory) throws IOException, InterruptedException {
        return new Clocks(
                Clock.create(directory, "server"),
                List.of(Clock.create(directory, "publisher"), Clock.create(directory, "consumer")));
    }
}
