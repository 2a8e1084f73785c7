package dev.trunkline.server;

import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Unmatched;

/** {@code trunkline bench} and {@code trunkline faults}, which the launcher does not pass on to here. */
@Command
final class LauncherCommand implements Runnable {

    @Spec
    CommandSpec command = CommandSpec.create();

    @Unmatched
    List<String> arguments = new ArrayList<>();

    static CommandLine of(String name, String what) {
        CommandLine line = new CommandLine(new LauncherCommand());
        line.getCommandSpec()
                .name(name)
                .usageMessage()
                .description(what + " Only by the launcher: ./trunkline " + name);
        return line;
    }

    @Override
    public void run() {
        String name = command.name();
        throw new CommandLine.ParameterException(
                command.commandLine(), name + " is a program of its own: run it by the launcher, ./trunkline " + name);
    }
}
