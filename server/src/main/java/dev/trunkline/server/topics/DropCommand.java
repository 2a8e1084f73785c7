package dev.trunkline.server.topics;

import dev.trunkline.Trunkline;
import dev.trunkline.server.ConnectionOptions;
import dev.trunkline.server.Output;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code trunkline topics drop}. */
@Command(name = "drop", description = "Drop a topic with all its messages.")
final class DropCommand implements Runnable {

    @Spec
    CommandSpec command = CommandSpec.create();

    @Mixin
    ConnectionOptions database = new ConnectionOptions();

    @Parameters(paramLabel = "TOPIC")
    String name = "";

    @Option(names = "--json", description = "Print the topic's name as JSON.")
    boolean json;

    @Override
    public void run() {
        try (Trunkline trunkline = database.open()) {
            trunkline.topics().drop(name);
            command.commandLine()
                    .getOut()
                    .println(json ? Output.json(Map.of("dropped", name)) : "dropped topic " + name);
        }
    }
}
