package dev.trunkline.server;

import java.io.PrintWriter;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code trunkline completion}. */
@Command(
        name = "completion",
        description = {
            "Print what completes commands and options in bash or zsh.",
            "As in: source <(trunkline completion)"
        })
final class CompletionCommand implements Runnable {

    @Spec
    CommandSpec command = CommandSpec.create();

    @Override
    public void run() {
        PrintWriter out = command.commandLine().getOut();
        out.println(AutoComplete.bash("trunkline", command.root().commandLine()));
        out.flush();
    }
}
