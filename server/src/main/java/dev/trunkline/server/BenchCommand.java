package dev.trunkline.server;

import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Unmatched;

/** {@code trunkline bench}, which the launcher does not pass on to here. */
@Command(name = "bench", description = "Measure. Only by the launcher: ./trunkline bench")
final class BenchCommand implements Runnable {

    @Spec
    CommandSpec command = CommandSpec.create();

    @Unmatched
    List<String> arguments = List.of();

    @Override
    public void run() {
        throw new CommandLine.ParameterException(
                command.commandLine(), "bench is a program of its own: run it by the launcher, ./trunkline bench");
    }
}
