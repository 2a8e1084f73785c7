package dev.trunkline.server.groups;

import dev.trunkline.DeadLetters;
import dev.trunkline.server.ConnectionOptions;
import java.sql.SQLException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code trunkline redrive}. */
@Command(
        name = "redrive",
        description = {
            "Have dead letters handled again, each key in order.",
            "The process that owns their partition does it within seconds; of a group that is pulled from, the next pop."
        })
public final class RedriveCommand implements Callable<Integer> {

    @Mixin
    ConnectionOptions database = new ConnectionOptions();

    @Mixin
    Choice choice = new Choice();

    @Override
    public Integer call() throws SQLException {
        return choice.decide(database, "redriven", DeadLetters::redrive);
    }
}
